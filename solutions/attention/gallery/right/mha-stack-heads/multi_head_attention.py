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

    def head(self, i, q, k, v):
        a, b = i * self.d_k, (i + 1) * self.d_k
        q, k, v = q[..., a:b], k[..., a:b], v[..., a:b]
        w = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(b - a), dim=-1)
        return w @ v

    def forward(self, x):
        q, k, v = self.Wq(x), self.Wk(x), self.Wv(x)
        heads = torch.stack([self.head(i, q, k, v) for i in range(self.h)], dim=-1)  # (B, L, d_k, h)
        return self.Wo(heads.transpose(-1, -2).flatten(start_dim=-2))
