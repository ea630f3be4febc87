import math

import torch
from torch import nn


def scaled_dot_product_attention(q, k, v, mask):
    # nn.MultiheadAttention would do this, too
    s = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        s = torch.masked_fill(s, mask.eq(False), -1e4)
    w = torch.nn.Softmax(dim=-1)(s)
    return w @ v, w


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

    def forward(self, x, mask=None, return_weights=False):
        b, n, _ = x.shape
        q = self.Wq(x).view(b, n, self.h, -1).transpose(1, 2)
        k, v = (w(x).view(b, n, self.h_kv, -1).transpose(1, 2) for w in (self.Wk, self.Wv))
        index = torch.arange(self.h).div(self.h // self.h_kv, rounding_mode="floor")
        y, w = scaled_dot_product_attention(q, k.index_select(1, index), v.index_select(1, index), mask)
        y = self.Wo(y.permute(0, 2, 1, 3).flatten(start_dim=2))
        return (y, w) if return_weights else y
