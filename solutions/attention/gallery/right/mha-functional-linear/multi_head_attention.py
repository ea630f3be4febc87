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
        weight = torch.cat([self.Wq.weight, self.Wk.weight, self.Wv.weight])
        bias = torch.cat([self.Wq.bias, self.Wk.bias, self.Wv.bias])
        q, k, v = F.linear(x, weight, bias).chunk(3, dim=-1)
        B, L, D = x.shape
        q = q.reshape(B, L, self.h, self.d_k).transpose(1, 2)
        k = k.reshape(B, L, self.h, self.d_k).transpose(1, 2)
        v = v.reshape(B, L, self.h, self.d_k).transpose(1, 2)
        a = F.softmax(q @ k.mT / math.sqrt(self.d_k), -1)
        y = (a @ v).transpose(1, 2).reshape(B, L, D)
        return y @ self.Wo.weight.T + self.Wo.bias
