import torch


def relative_offset(k, d_model):
    return torch.zeros(d_model, d_model)
