import math

import torch
from einops import einsum, rearrange
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
        q = rearrange(self.Wq(x), "b n (h g d) -> b g h n d", h=self.h_kv, d=self.d_k)
        k = rearrange(self.Wk(x), "b n (h d) -> b h n d", d=self.d_k)
        v = rearrange(self.Wv(x), "b n (h d) -> b h n d", d=self.d_k)
        sim = einsum(q, k, "b g h n d, b h s d -> b g h n s") / self.d_k**0.5
        if mask is not None:
            sim.masked_fill_(~mask, torch.finfo(sim.dtype).min)
        attn = sim.softmax(dim=-1)
        out = einsum(attn, v, "b g h n s, b h s d -> b g h n d")
        return self.Wo(rearrange(out, "b g h n d -> b n (h g d)"))
