import torch


def slopes(n):
    power = 1
    while power * 2 <= n:
        power *= 2
    s = [2 ** (-8 / power * k) for k in range(1, power + 1)]
    t = [2 ** (-8 / (2 * power) * k) for k in range(1, 2 * power + 1)]
    return s + t[::2][: n - power]


def alibi_bias(num_heads, length):
    rel = torch.arange(length)[None, :] - torch.arange(length)[:, None]
    return torch.einsum("h,ij->hij", torch.tensor(slopes(num_heads)), rel.float())
