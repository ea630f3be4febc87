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
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(self.d_k)
        kept = scores.topk(min(n, 64), dim=-1)
        weights = torch.zeros_like(scores).scatter(-1, kept.indices, kept.values.softmax(-1))
        out = torch.einsum("bhij,bhjd->bihd", weights, v).reshape(b, n, d)
        return self.Wo(out)
