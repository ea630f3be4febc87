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
        q, k, v = self.Wq(x), self.Wk(x), self.Wv(x)
        d = self.d_k
        outs = []
        for head in range(self.h):
            group = head * self.h_kv // self.h
            qh = q[..., head * d : (head + 1) * d]
            kh = k[..., group * d : (group + 1) * d]
            vh = v[..., group * d : (group + 1) * d]
            s = qh @ kh.mT * d**-0.5
            if mask is not None:
                s = torch.where(mask, s, torch.tensor(-1e9))
            outs.append(s.softmax(-1) @ vh)
        return self.Wo(torch.cat(outs, dim=-1))
