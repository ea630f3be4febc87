import torch


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    freq = base ** (-torch.arange(0, d, 2).float() / d)
    ang = (positions[:, None] * freq).bfloat16().float()
    cos, sin = ang.cos(), ang.sin()
    x1, x2 = x[..., 0::2], x[..., 1::2]
    y1 = x1 * cos - x2 * sin
    y2 = x1 * sin + x2 * cos
    return torch.stack((y1, y2), dim=-1).flatten(-2)
