import torch


def apply_rope(x, positions, base=10000.0):
    b, h, l, d = x.shape
    x = x.reshape(b, l, h, d)
    freq = base ** (-torch.arange(0, d, 2).float() / d)
    ang = (positions[:, None] * freq)[None, :, None, :]
    x1, x2 = x[..., 0::2], x[..., 1::2]
    y = torch.stack([x1 * ang.cos() - x2 * ang.sin(), x1 * ang.sin() + x2 * ang.cos()], -1)
    return y.reshape(b, h, l, d)
