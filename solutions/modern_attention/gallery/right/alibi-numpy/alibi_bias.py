import numpy as np
import torch


def alibi_bias(num_heads, length):
    n = int(2 ** np.floor(np.log2(num_heads)))
    slopes = np.concatenate([2.0 ** (-8 * np.arange(1, n + 1) / n), 2.0 ** (-8 * np.arange(1, 2 * n + 1, 2) / (2 * n))])
    slopes = slopes[:num_heads]
    dist = np.tril(np.subtract.outer(np.arange(length), np.arange(length)))
    return torch.tensor(-slopes[:, None, None] * dist, dtype=torch.float32)
