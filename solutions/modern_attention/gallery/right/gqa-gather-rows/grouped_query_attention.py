import math

import torch
import torch.nn.functional as F
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
        head_of = torch.arange(self.h) // (self.h // self.h_kv)
        rows = (head_of[:, None] * self.d_k + torch.arange(self.d_k)).flatten()
        q = F.linear(x, self.Wq.weight, self.Wq.bias)
        k = F.linear(x, self.Wk.weight[rows], self.Wk.bias[rows])
        v = F.linear(x, self.Wv.weight[rows], self.Wv.bias[rows])
        q, k, v = (t.unflatten(-1, (self.h, self.d_k)).transpose(1, 2) for t in (q, k, v))
        bias = torch.zeros(L, L)
        if mask is not None:
            bias[mask.logical_not()] = -torch.inf
        weights = F.softmax(torch.baddbmm(bias.expand(B * self.h, L, L), q.flatten(0, 1), k.flatten(0, 1).mT, alpha=self.d_k**-0.5), dim=-1)
        heads = (weights @ v.flatten(0, 1)).view(B, self.h, L, self.d_k)
        return self.Wo(heads.transpose(1, 2).flatten(2))
