import math

import torch
import torch.nn as nn


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

    def split_heads(self, t):
        b, n, _ = t.shape
        return t.view(b, n, self.h, self.d_k).transpose(1, 2)

    def merge_heads(self, t):
        b, _, n, _ = t.shape
        return t.transpose(1, 2).reshape(b, n, self.h * self.d_k)

    def count_parameters(self):
        return sum(p.numel() for p in self.parameters())

    @property
    def d_model(self):
        return self.h * self.d_k

    def extra_repr(self):
        return f"d_model={self.d_model}, heads={self.h}"

    def forward(self, x):
        q = self.split_heads(self.Wq(x))
        k = self.split_heads(self.Wk(x))
        v = self.split_heads(self.Wv(x))
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.d_k), dim=-1)
        return self.Wo(self.merge_heads(weights @ v))
