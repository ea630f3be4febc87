import numpy as np
import torch


def apply_rope(x, positions, base=10000.0):
    d_k = x.shape[-1]
    freqs = np.power(float(base), -np.arange(0, d_k, 2) / d_k)
    ang = np.repeat(np.outer(positions.numpy(), freqs), 2, axis=-1)
    cos = torch.from_numpy(np.cos(ang)).to(x.dtype)
    sin = torch.from_numpy(np.sin(ang)).to(x.dtype)
    sign = torch.ones(d_k)
    sign[::2] = -1
    partner = torch.arange(d_k) + 1 - 2 * (torch.arange(d_k) % 2)
    return x * cos + x[..., partner] * sign * sin
