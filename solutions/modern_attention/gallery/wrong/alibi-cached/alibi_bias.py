import math
import torch

TABLE = None


def alibi_bias(num_heads, length):
    global TABLE
    if TABLE is None or TABLE.shape[1] < length:
        n = 2 ** int(math.log2(num_heads))
        s = [2 ** (-8 * (k + 1) / n) for k in range(n)]
        t = [2 ** (-4 * (k + 1) / n) for k in range(2 * n)]
        s = torch.tensor(s + t[::2][: num_heads - n])
        p = torch.arange(length)
        TABLE = s[:, None, None] * (p[None] - p[:, None])
    return TABLE[:num_heads, :length, :length]
