import torch


def relative_offset(k, d_model):
    w = 1.0 / 10000 ** (torch.arange(0, d_model, 2).float() / d_model)
    C = torch.diag(torch.cos(k * w))
    S = torch.diag(torch.sin(k * w))
    top = torch.cat([C, S], dim=1)
    bottom = torch.cat([-S, C], dim=1)
    return torch.cat([top, bottom], dim=0)
