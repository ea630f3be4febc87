import torch


def alibi_bias(num_heads, length):
    n = 2 ** (num_heads.bit_length() - 1)
    m = [2.0 ** (-8 * (h + 1) / n) if h < n else 2.0 ** (-4 * (2 * (h - n) + 1) / n) for h in range(num_heads)]
    i = torch.arange(length)
    return torch.tensor(m)[:, None, None] * (i[:, None] - i[None, :]).abs()
