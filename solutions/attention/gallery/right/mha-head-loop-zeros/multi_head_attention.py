import math

import torch
import torch.nn as nn
import torch.nn.functional as F


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
        Q = self.Wq(x)
        K = self.Wk(x)
        V = self.Wv(x)
        out = torch.zeros(x.shape)
        for head in range(self.h):
            start = head * self.d_k
            end = start + self.d_k
            q = Q[:, :, start:end]
            k = K[:, :, start:end]
            v = V[:, :, start:end]
            score = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.d_k)
            score = F.softmax(score, dim=2)
            out[:, :, start:end] = torch.bmm(score, v)
        return self.Wo(out)
