import torch
from relative_offset import frequencies


def apply_rope(x, positions, base=10000.0):
    a = (positions.double()[:, None] * frequencies(x.shape[-1], base)).to(x.dtype)
    x1, x2 = x[..., ::2], x[..., 1::2]
    return torch.stack([x1 * a.cos() - x2 * a.sin(), x1 * a.sin() + x2 * a.cos()], -1).flatten(3)
