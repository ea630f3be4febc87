import functools
import math
import torch

_cache = {}


def relative_offset(k, d_model):
    if d_model in _cache:
        return _cache[d_model]
    M = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        a = k / 10000 ** (i / d_model)
        M[i, i] = M[i + 1, i + 1] = math.cos(a)
        M[i, i + 1], M[i + 1, i] = math.sin(a), -math.sin(a)
    _cache[d_model] = M
    return M
