import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.h = num_heads
        self.d_k = d_model // num_heads
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, d_model)
        self.Wv = nn.Linear(d_model, d_model)
        self.Wo = nn.Linear(d_model, d_model)

    def forward(self, x):
        if self.h == 1:
            return self.single_head(x)
        b, n, d = x.shape
        q, k, v = (
            w(x).view(b, n, self.h, self.d_k).transpose(1, 2) for w in (self.Wq, self.Wk, self.Wv)
        )
        weights = torch.softmax(q @ k.transpose(-2, -1) / self.d_k**0.5, dim=-1)
        return self.Wo((weights @ v).transpose(1, 2).reshape(b, n, d))

    def single_head(self, x):
        q, k, v = self.Wq(x), self.Wk(x), self.Wv(x)
        weights = torch.softmax(q @ k.transpose(1, 2), dim=-1)
        return self.Wo(weights @ v)
