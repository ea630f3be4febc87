import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be a multiple of num_heads")
        self.h = num_heads
        self.d_k = d_model // num_heads
        self.queries = [nn.Linear(d_model, self.d_k) for _ in range(num_heads)]
        self.keys = [nn.Linear(d_model, self.d_k) for _ in range(num_heads)]
        self.values = [nn.Linear(d_model, self.d_k) for _ in range(num_heads)]
        self.Wo = nn.Linear(d_model, d_model)

    def forward(self, x):
        heads = []
        for wq, wk, wv in zip(self.queries, self.keys, self.values):
            a = torch.softmax(wq(x) @ wk(x).transpose(1, 2) / self.d_k ** 0.5, dim=-1)
            heads.append(a @ wv(x))
        return self.Wo(torch.cat(heads, dim=-1))
