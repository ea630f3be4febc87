import math
import torch


def relative_offset(k, d_model):
    M = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        w = 1 / 10000 ** (2 * i / d_model)
        c, s = math.cos(k * w), math.sin(k * w)
        M[2 * i, 2 * i] = c
        M[2 * i, 2 * i + 1] = s
        M[2 * i + 1, 2 * i] = -s
        M[2 * i + 1, 2 * i + 1] = c
    return M
