import math
import torch


def alibi_bias(num_heads, length):
    n = 2 ** (num_heads.bit_length() - 1)
    bias = torch.zeros(num_heads, length, length)
    for h in range(num_heads):
        if h < n:
            m = 2 ** (-8 * (h + 1) / n)
        else:
            m = 2 ** (-8 * (2 * (h - n) + 1) / (2 * n))
        for i in range(length):
            for j in range(i + 1):
                bias[h, i, j] = -m * (i - j)
    return bias
