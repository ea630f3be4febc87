import torch


def build_cache(n, d, base):
    t = torch.arange(n).float()
    f = 1.0 / base ** (torch.arange(0, d, 2).float() / d)
    a = torch.outer(t, f)
    return a.cos(), a.sin()


def apply_rope(x, positions, base=10000.0):
    cos, sin = build_cache(int(positions.max()) + 1, x.shape[-1], base)
    cos, sin = cos[positions], sin[positions]
    x1, x2 = x[..., ::2], x[..., 1::2]
    out = torch.stack([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1)
    return out.reshape(x.shape)
