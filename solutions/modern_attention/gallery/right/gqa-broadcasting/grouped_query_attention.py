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
        b, l, _ = x.size()
        g = self.h // self.h_kv
        q = self.Wq(x).reshape(b, l, self.h_kv, g, self.d_k).permute(0, 2, 3, 1, 4)
        k = self.Wk(x).reshape(b, l, self.h_kv, 1, self.d_k).permute(0, 2, 3, 4, 1)
        v = self.Wv(x).reshape(b, l, self.h_kv, 1, self.d_k).permute(0, 2, 3, 1, 4)
        logits = (q @ k) / self.d_k**0.5
        if mask is not None:
            logits = logits + torch.where(mask, 0.0, float("-inf"))
        e = torch.exp(logits - logits.max(dim=-1, keepdim=True).values)
        w = e / e.sum(dim=-1, keepdim=True)
        return self.Wo((w @ v).permute(0, 3, 1, 2, 4).reshape(b, l, -1))
