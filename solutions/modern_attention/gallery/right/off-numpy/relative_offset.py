import numpy as np
import torch


def relative_offset(k, d_model):
    half = d_model // 2
    w = 10000.0 ** (-2 * np.arange(half) / d_model)
    out = np.kron(np.diag(np.cos(k * w)), np.eye(2))
    out += np.kron(np.diag(np.sin(k * w)), np.array([[0.0, 1.0], [-1.0, 0.0]]))
    return torch.from_numpy(out).float()
