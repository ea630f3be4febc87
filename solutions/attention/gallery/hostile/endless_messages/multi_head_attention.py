"""Has much to say about its failure."""

import torch
from torch import nn

class Long(Exception):
    def __str__(self):
        return "x" * 100_000_000


class Silent(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


class Odd(Exception):
    def __str__(self):
        return 7


class Chained(Exception):
    @property
    def __traceback__(self):
        raise RuntimeError

    @property
    def __class__(self):
        return AssertionError


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
        raise (Long, Silent, Odd, Chained)[x.shape[1] % 4]()
