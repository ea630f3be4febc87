import math
import torch


def get_slopes(n):
    if math.log2(n) % 1:
        raise ValueError("the number of heads must be a power of two")
    return [2 ** (-8 * k / n) for k in range(1, n + 1)]


def alibi_bias(num_heads, length):
    slopes = torch.tensor(get_slopes(num_heads))
    i = torch.arange(length)[:, None]
    j = torch.arange(length)[None, :]
    return slopes[:, None, None] * (j - i)
