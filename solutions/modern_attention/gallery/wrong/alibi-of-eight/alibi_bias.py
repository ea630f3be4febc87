import math
import torch


def get_slopes(n):
    return [1 / 2 ** (h + 1) for h in range(n)]


def alibi_bias(num_heads, length):
    slopes = torch.tensor(get_slopes(num_heads))
    i = torch.arange(length)[:, None]
    j = torch.arange(length)[None, :]
    return slopes[:, None, None] * (j - i)
