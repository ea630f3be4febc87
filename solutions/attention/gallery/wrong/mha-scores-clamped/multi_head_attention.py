import math

import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be divisible by num_heads")
        self.h = num_heads
        self.d_k = d_model // num_heads
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, d_model)
        self.Wv = nn.Linear(d_model, d_model)
        self.Wo = nn.Linear(d_model, d_model)

    def heads(self, t):
        return t.view(t.size(0), t.size(1), self.h, self.d_k).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.heads(self.Wq(x)), self.heads(self.Wk(x)), self.heads(self.Wv(x))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d_k)
        weights = torch.softmax(scores.clamp(-50, 50), dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(x.shape)
        return self.Wo(out)
