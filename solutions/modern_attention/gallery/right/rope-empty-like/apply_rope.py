import torch


def apply_rope(x, positions, base=10000.0):
    b, h, n, d = x.shape
    theta = base ** (-2.0 * torch.arange(d // 2) / d)
    ang = positions.view(1, 1, n, 1) * theta.view(1, 1, 1, -1)
    even, odd = x[..., 0::2], x[..., 1::2]
    y = torch.empty_like(x)
    y[..., 0::2] = even * ang.cos() - odd * ang.sin()
    y[..., 1::2] = even * ang.sin() + odd * ang.cos()
    return y
