import torch


def relative_offset(k, d_model):
    w = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    step = torch.zeros(d_model, d_model)
    for i in range(len(w)):
        c, s = torch.cos(w[i]), torch.sin(w[i])
        step[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, s], [-s, c]])
    result = torch.eye(d_model)
    for _ in range(abs(k)):
        result = result @ (step if k > 0 else step.T)
    return result
