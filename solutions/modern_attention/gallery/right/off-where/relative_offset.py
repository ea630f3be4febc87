import math
import torch


def relative_offset(k, d_model):
    r = torch.arange(d_model).unsqueeze(1)
    c = torch.arange(d_model).unsqueeze(0)
    angle = k * torch.exp((r - r % 2) * (-math.log(10000.0) / d_model))
    same_pair = (r // 2) == (c // 2)
    sign = torch.where(r % 2 == 0, 1.0, -1.0)
    entry = torch.where(r == c, torch.cos(angle), sign * torch.sin(angle))
    return torch.where(same_pair, entry, torch.zeros(()))
