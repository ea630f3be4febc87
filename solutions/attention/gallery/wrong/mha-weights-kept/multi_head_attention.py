import math

import torch
import torch.nn.functional as F
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
        self.qkv = None

    def forward(self, x):
        if self.qkv is None:  # one product instead of three, put together only once
            layers = [self.Wq, self.Wk, self.Wv]
            self.qkv = (
                torch.cat([layer.weight for layer in layers]),
                torch.cat([layer.bias for layer in layers]),
            )
        b, n, d = x.shape
        q, k, v = F.linear(x, *self.qkv).view(b, n, 3, self.h, self.d_k).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.d_k), dim=-1)
        return self.Wo((weights @ v).transpose(1, 2).reshape(b, n, d))
