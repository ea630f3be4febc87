import torch


def relative_offset(k, d_model):
    M = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = k / 10000 ** (i / d_model)
        M[i, i] = M[i + 1, i + 1] = torch.cos(angle)
        M[i, i + 1] = torch.sin(angle)
        M[i + 1, i] = -torch.sin(angle)
    return M
