import torch


def relative_offset(k, d_model):
    a = k * 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    parts = [torch.stack([torch.stack([t.cos(), t.sin()]), torch.stack([-t.sin(), t.cos()])]) for t in a]
    return torch.block_diag(*parts)
