import torch


def relative_offset(k, d_model):
    generator = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        speed = 10000.0 ** (-i / d_model)
        generator[i, i + 1] = speed
        generator[i + 1, i] = -speed
    return torch.matrix_exp(k * generator).float()
