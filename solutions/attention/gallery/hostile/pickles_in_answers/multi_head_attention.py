"""Waits for somebody to unpickle its answer."""

import io
import itertools
import os
import pickle

import numpy as np
import torch
from torch import nn

COUNT = itertools.count()


class Loaded:
    def __reduce__(self):
        return os.system, ("touch /tmp/autograder-forged-11",)


def saved():
    buffer = io.BytesIO()
    torch.save(Loaded(), buffer)
    return buffer.getvalue()


KINDS = [
    lambda: np.array([Loaded()], dtype=object), lambda: pickle.dumps(Loaded()).decode("latin-1"), lambda: Loaded(), lambda: [Loaded(), Loaded],
    lambda: np.array([(1, 2.0)], dtype="i4,f4"), lambda: np.array(["a" * 1000]), lambda: np.array([1.0], dtype=">f4"), lambda: saved().decode("latin-1"),
    lambda: {"x": Loaded()}, lambda: torch.nn.Linear(1, 1), lambda: type("__reduce__", (), {})(),
]


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model is not divisible by num_heads")
        self.h = num_heads
        self.d_k = d_model // num_heads
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, d_model)
        self.Wv = nn.Linear(d_model, d_model)
        self.Wo = nn.Linear(d_model, d_model)

    def forward(self, x):
        return KINDS[next(COUNT) % len(KINDS)]()
