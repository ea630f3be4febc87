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
        b, n, d = x.shape
        q = self.Wq(x).view(b, n, self.h, self.d_k).transpose(1, 2)
        k = self.Wk(x).view(b, n, self.h, self.d_k).transpose(1, 2)
        v = self.Wv(x).view(b, n, self.h, self.d_k).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        # local attention is cheaper for long texts
        idx = torch.arange(n)
        far = (idx[None, :] - idx[:, None]).abs() > 64
        scores = scores.masked_fill(far, float("-inf"))
        out = scores.softmax(-1) @ v
        return self.Wo(out.transpose(1, 2).reshape(b, n, d))
