"""Sends as much as the link takes."""

import itertools

import torch
from torch import nn

COUNT = itertools.count()
KINDS = [
    lambda: torch.ones(1).expand(1 << 40), lambda: torch.ones(1 << 26), lambda: [torch.ones(1)] * 49_000, lambda: "x" * (1 << 24),
    lambda: torch.ones(1 << 24, 0), lambda: torch.empty((1,) * 60), lambda: 1 << 100_000, lambda: {str(n): n for n in range(49_000)},
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
