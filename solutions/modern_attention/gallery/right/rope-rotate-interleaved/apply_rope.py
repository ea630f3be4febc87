import torch


def rotate_every_two(x):
    x1 = x[:, :, :, ::2]
    x2 = x[:, :, :, 1::2]
    x = torch.stack((-x2, x1), dim=-1)
    return x.flatten(-2)


def apply_rope(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2) / dim))
    sinusoid = torch.einsum("i,j->ij", positions.float(), inv_freq)
    sin = torch.repeat_interleave(torch.sin(sinusoid), 2, dim=-1)
    cos = torch.repeat_interleave(torch.cos(sinusoid), 2, dim=-1)
    return (x * cos) + (rotate_every_two(x) * sin)
