import numpy as np


def relative_offset(k, d_model):
    M = np.zeros((d_model, d_model))
    for i in range(d_model // 2):
        w = 10000.0 ** (-2 * i / d_model)
        M[2 * i][2 * i] = M[2 * i + 1][2 * i + 1] = np.cos(k * w)
        M[2 * i][2 * i + 1] = np.sin(k * w)
        M[2 * i + 1][2 * i] = -np.sin(k * w)
    return M
