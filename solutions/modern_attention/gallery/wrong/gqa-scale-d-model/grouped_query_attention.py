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
        q = self.Wq(x).view(B, L, self.h, self.d_k).transpose(1, 2)
        k = self.Wk(x).view(B, L, self.h_kv, self.d_k).transpose(1, 2)
        v = self.Wv(x).view(B, L, self.h_kv, self.d_k).transpose(1, 2)
        g = self.h // self.h_kv
        k = k.repeat_interleave(g, dim=1)
        v = v.repeat_interleave(g, dim=1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(D)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        w = torch.softmax(scores, dim=-1)
        out = w @ v
        out = out.transpose(1, 2).reshape(B, L, D)
        return self.Wo(out)
