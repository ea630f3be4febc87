import torch


def relative_offset(k, d_model):
    w = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    a = abs(k) * w
    M = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        c, s = torch.cos(a[i]), torch.sin(a[i])
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, s], [-s, c]])
    return M
