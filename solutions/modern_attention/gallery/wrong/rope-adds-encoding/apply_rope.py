import torch


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    ang = positions[:, None].float() / base ** (torch.arange(0, d, 2) / d)
    pe = torch.stack([ang.sin(), ang.cos()], dim=-1).flatten(-2)
    return x + pe
