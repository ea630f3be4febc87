import math
import torch


def relative_offset(k, d_model):
    w = 1 / 10000 ** (0 / d_model)
    return torch.tensor([[math.cos(k * w), math.sin(k * w)], [-math.sin(k * w), math.cos(k * w)]])
