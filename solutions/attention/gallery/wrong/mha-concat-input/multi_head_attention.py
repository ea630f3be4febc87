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
        self.final_linear = nn.Linear(2 * d_model, d_model)
        self.layer_norm = nn.LayerNorm(d_model)

    def forward(self, x):
        B, L, D = x.shape
        q, k, v = (w(x).view(B, L, self.h, self.d_k).transpose(1, 2) for w in (self.Wq, self.Wk, self.Wv))
        result = F.softmax(q @ k.transpose(-1, -2) / math.sqrt(self.d_k), -1) @ v
        result = self.Wo(result.transpose(1, 2).reshape(B, L, D))
        result = self.final_linear(torch.cat([x, result], dim=-1))
        return self.layer_norm(result + x)
