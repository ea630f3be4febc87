import torch


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    freq = base ** (-torch.arange(0, d, 2).float() / d)
    ang = positions[:, None] * freq
    even, odd = x[..., 0::2].clone(), x[..., 1::2].clone()
    x[..., 0::2] = even * ang.cos() - odd * ang.sin()
    x[..., 1::2] = even * ang.sin() + odd * ang.cos()
    return x
