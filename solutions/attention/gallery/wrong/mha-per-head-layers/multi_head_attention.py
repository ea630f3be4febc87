import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.h = num_heads
        self.d_k = d_model // num_heads
        self.q = nn.ModuleList([nn.Linear(d_model, self.d_k) for _ in range(num_heads)])
        self.k = nn.ModuleList([nn.Linear(d_model, self.d_k) for _ in range(num_heads)])
        self.v = nn.ModuleList([nn.Linear(d_model, self.d_k) for _ in range(num_heads)])
        self.linear = nn.Linear(d_model, d_model)

    def forward(self, x):
        out = []
        for wq, wk, wv in zip(self.q, self.k, self.v):
            w = torch.softmax(wq(x) @ wk(x).mT / self.d_k ** 0.5, dim=-1)
            out.append(w @ wv(x))
        return self.linear(torch.cat(out, -1))
