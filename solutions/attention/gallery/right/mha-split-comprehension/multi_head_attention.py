import torch
import torch.nn as nn
from math import sqrt


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
        qs = torch.split(self.Wq(x), self.d_k, dim=-1)
        ks = torch.split(self.Wk(x), self.d_k, dim=-1)
        vs = torch.split(self.Wv(x), self.d_k, dim=-1)
        heads = [
            torch.softmax(q @ k.transpose(-2, -1) / sqrt(self.d_k), dim=-1) @ v
            for q, k, v in zip(qs, ks, vs)
        ]
        return self.Wo(torch.cat(heads, dim=-1))
