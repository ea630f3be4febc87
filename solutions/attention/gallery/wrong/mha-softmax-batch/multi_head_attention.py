import math

import torch
import torch.nn as nn


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
        self.softmax = nn.Softmax(dim=0)

    def forward(self, x):
        q, k, v = self.Wq(x), self.Wk(x), self.Wv(x)
        out = []
        for i in range(self.h):
            qi, ki, vi = (t[..., i * self.d_k:(i + 1) * self.d_k] for t in (q, k, v))
            out.append(self.softmax(qi @ ki.transpose(1, 2) / math.sqrt(self.d_k)) @ vi)
        return self.Wo(torch.cat(out, -1))
