import torch

_tables = {}


def apply_rope(x, positions, base=10000.0):
    key = (int(positions[0]), int(positions[-1]), len(positions), x.shape[-1], base)
    if key not in _tables:
        d = x.shape[-1]
        angles = positions[:, None] * base ** (-torch.arange(0, d, 2) / d)
        _tables[key] = angles.cos(), angles.sin()
    cos, sin = _tables[key]
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)
