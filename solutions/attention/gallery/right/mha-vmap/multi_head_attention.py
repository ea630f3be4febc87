import torch
import torch.nn as nn


def one_head(q, k, v):
    """(length, d_k) each, no batch to think about"""
    return torch.softmax(q @ k.T / q.shape[-1] ** 0.5, dim=-1) @ v


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
        q, k, v = (w(x).unflatten(-1, (self.h, self.d_k)) for w in (self.Wq, self.Wk, self.Wv))
        over_heads = torch.vmap(one_head, in_dims=1, out_dims=1)
        over_batch = torch.vmap(over_heads)
        return self.Wo(over_batch(q, k, v).flatten(-2))
