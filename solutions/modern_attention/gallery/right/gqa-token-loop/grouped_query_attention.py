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
        q = self.Wq(x).unflatten(-1, (self.h_kv, self.h // self.h_kv, self.d_k))
        k = self.Wk(x).unflatten(-1, (self.h_kv, self.d_k))
        v = self.Wv(x).unflatten(-1, (self.h_kv, self.d_k))
        rows = []
        for i in range(x.shape[1]):
            seen = torch.arange(x.shape[1]) if mask is None else mask[i].nonzero().flatten()
            s = torch.einsum("bngd,bsnd->bngs", q[:, i], k[:, seen]) / math.sqrt(self.d_k)
            rows.append(torch.einsum("bngs,bsnd->bngd", s.softmax(-1), v[:, seen]).flatten(1))
        return self.Wo(torch.stack(rows, dim=1))
