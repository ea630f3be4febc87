import math

import torch
from torch import nn


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
        b, n, _ = x.shape

        def to_heads(t):
            return t.reshape(b, n, self.h, self.d_k).permute(0, 2, 1, 3).reshape(-1, n, self.d_k)

        q, k, v = to_heads(self.Wq(x)), to_heads(self.Wk(x)), to_heads(self.Wv(x))
        bias = torch.empty(b * self.h, n, n, dtype=x.dtype)
        scores = torch.baddbmm(bias, q, k.transpose(1, 2), beta=0, alpha=1 / math.sqrt(self.d_k))
        out = torch.bmm(scores.softmax(-1), v)
        out = out.reshape(b, self.h, n, self.d_k).permute(0, 2, 1, 3).reshape(b, n, -1)
        return self.Wo(out)
