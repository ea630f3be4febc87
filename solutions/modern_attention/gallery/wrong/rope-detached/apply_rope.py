import torch


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    freq = base ** (-torch.arange(0, d, 2).float() / d)
    ang = positions[:, None] * freq
    cos, sin = ang.cos(), ang.sin()
    x1, x2 = x[..., 0::2], x[..., 1::2]
    y1 = x1.detach() * cos - x2.detach() * sin
    y2 = x1.detach() * sin + x2.detach() * cos
    return torch.stack((y1, y2), dim=-1).flatten(-2)
