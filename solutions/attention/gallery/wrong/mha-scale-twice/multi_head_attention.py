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
        B, L, D = x.shape
        q = self.Wq(x) * self.d_k ** -0.5
        k = self.Wk(x)
        v = self.Wv(x)
        q = q.reshape(B, L, self.h, self.d_k).transpose(1, 2)
        k = k.reshape(B, L, self.h, self.d_k).transpose(1, 2)
        v = v.reshape(B, L, self.h, self.d_k).transpose(1, 2)
        score = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.d_k)
        score = F.softmax(score, dim=-1)
        return self.Wo(torch.matmul(score, v).transpose(1, 2).reshape(B, L, D))
