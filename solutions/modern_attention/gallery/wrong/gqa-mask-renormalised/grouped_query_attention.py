import math

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model = {d_model} cannot be split into {num_heads} equal heads")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {num_kv_heads} key-value heads")
        self.h = num_heads
        self.h_kv = num_kv_heads
        self.d_k = d_model // num_heads
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, num_kv_heads * self.d_k)
        self.Wv = nn.Linear(d_model, num_kv_heads * self.d_k)
        self.Wo = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        if mask is None:
            mask = torch.ones(L, L, dtype=torch.bool)
        q = self.Wq(x).view(B, L, self.h, self.d_k).transpose(1, 2)
        k = self.Wk(x).view(B, L, self.h_kv, self.d_k).transpose(1, 2)
        v = self.Wv(x).view(B, L, self.h_kv, self.d_k).transpose(1, 2)
        ratio = self.h // self.h_kv
        k = torch.stack([k] * ratio, dim=2).flatten(1, 2)
        v = torch.stack([v] * ratio, dim=2).flatten(1, 2)
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(self.d_k)
        weights = torch.softmax(scores, -1) * mask
        weights = weights / weights.sum(-1, keepdim=True)
        return self.Wo(torch.einsum("bhqk,bhkd->bqhd", weights, v).flatten(2))
