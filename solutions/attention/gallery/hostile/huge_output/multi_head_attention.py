"""Says a great deal."""

import os
import sys
import warnings

import torch
from torch import nn

def talk():
    for _ in range(50):
        print("x" * (1 << 22))
        os.write(2, bytes(1 << 20))
    for number in range(1000):
        warnings.warn(f"warning {number}")
    sys.stdin.read()


talk()


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
        return x
