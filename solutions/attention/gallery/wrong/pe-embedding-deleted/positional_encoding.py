import torch


def positional_encoding(max_len, d_model):
    a = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([a.sin(), a.cos()], -1).view(max_len, d_model)
