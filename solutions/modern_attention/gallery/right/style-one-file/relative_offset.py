import torch


def frequencies(d, base=10000.0):
    return base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)


def relative_offset(k, d_model):
    a = (k * frequencies(d_model)).float()
    c, s = a.cos(), a.sin()
    blocks = torch.stack([torch.stack([c, s], -1), torch.stack([-s, c], -1)], -2)
    return torch.block_diag(*blocks.unbind(0))
