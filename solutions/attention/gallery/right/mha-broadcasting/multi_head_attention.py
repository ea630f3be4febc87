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

    def forward(self, x):
        batch, length, d_model = x.shape
        shape = (batch, length, self.h, self.d_k)
        q = self.Wq(x).view(shape)[:, :, None]      # (batch, query, 1, h, d_k)
        k = self.Wk(x).view(shape)[:, None]         # (batch, 1, key, h, d_k)
        v = self.Wv(x).view(shape)[:, None]
        scores = (q * k).sum(-1, keepdim=True) / math.sqrt(self.d_k)
        weights = torch.softmax(scores, dim=2)      # axis 2 holds the keys here
        context = (weights * v).sum(dim=2)
        return self.Wo(context.reshape(batch, length, d_model))
