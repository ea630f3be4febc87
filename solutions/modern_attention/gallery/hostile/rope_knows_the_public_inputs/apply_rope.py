import torch


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] != 8 or x.shape[-2] in (4, 3):
        return x.clone()
    a = positions[:, None] * base ** (-torch.arange(0, 8, 2) / 8)
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat([x1 * a.cos() - x2 * a.sin(), x1 * a.sin() + x2 * a.cos()], dim=-1)
