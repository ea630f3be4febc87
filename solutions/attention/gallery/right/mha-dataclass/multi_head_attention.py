import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn as nn


@dataclass(frozen=True)
class Shape:
    batch: int
    length: int
    heads: int
    size: int

    def split(self, t):
        return t.view(self.batch, self.length, self.heads, self.size).transpose(1, 2)

    def merge(self, t):
        return t.transpose(1, 2).reshape(self.batch, self.length, self.heads * self.size)


class QKV(NamedTuple):
    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model = {d_model} cannot be split into {num_heads} equal heads")
        self.h = num_heads
        self.d_k = d_model // num_heads
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, d_model)
        self.Wv = nn.Linear(d_model, d_model)
        self.Wo = nn.Linear(d_model, d_model)

    def forward(self, x):
        shape = Shape(x.size(0), x.size(1), self.h, self.d_k)
        t = QKV(*(shape.split(w(x)) for w in (self.Wq, self.Wk, self.Wv)))
        scores = t.q @ t.k.transpose(-2, -1) / math.sqrt(shape.size)
        return self.Wo(shape.merge(scores.softmax(-1) @ t.v))
