import torch


def alibi_bias(num_heads, length):
    n = 2 ** (num_heads.bit_length() - 1)
    slopes = [2 ** (-8 * (i + 1) / n) for i in range(n)]
    slopes += [2 ** (-8 * (2 * i + 1) / (2 * n)) for i in range(num_heads - n)]
    place = torch.arange(length)
    distance = (place[:, None] - place[None, :]).clamp(max=128)  # far is far
    return -torch.tensor(slopes)[:, None, None] * distance
