import torch


def step(d_model):
    M = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        w = torch.tensor(1.0 / 10000 ** (i / d_model))
        M[i : i + 2, i : i + 2] = torch.tensor([[w.cos(), w.sin()], [-w.sin(), w.cos()]])
    return M


def relative_offset(k, d_model):
    M = step(d_model)
    if k < 0:
        M = M.T  # the inverse of a rotation
    return torch.linalg.matrix_power(M, abs(k))
