import math
import torch


def get_slopes(n):
    def power(n):
        return [math.exp(-8 * k / n) for k in range(1, n + 1)]

    p = 2 ** int(math.log2(n))
    return power(p) + power(2 * p)[0::2][: n - p]


def alibi_bias(num_heads, length):
    slopes = torch.tensor(get_slopes(num_heads))
    i = torch.arange(length)[:, None]
    j = torch.arange(length)[None, :]
    return slopes[:, None, None] * (j - i)
