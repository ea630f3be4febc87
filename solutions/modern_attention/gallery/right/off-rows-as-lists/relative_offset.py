from math import cos, sin
from torch import float32, tensor


def relative_offset(k: int, d_model: int):
    rows = []
    for i in range(d_model):
        row = [0.0] * d_model
        w = 10000 ** -((i // 2) * 2 / d_model)
        if i % 2 == 0:
            row[i], row[i + 1] = cos(w * k), sin(w * k)
        else:
            row[i - 1], row[i] = -sin(w * k), cos(w * k)
        rows.append(row)
    return tensor(rows, dtype=float32)
