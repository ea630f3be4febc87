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
        B, T, C = x.size()
        pad = x.sum(-1) == 0
        q, k, v = (w(x).view(B, T, self.h, self.d_k).transpose(1, 2) for w in (self.Wq, self.Wk, self.Wv))
        att = q @ k.mT / math.sqrt(self.d_k)
        att = att.masked_fill(pad[:, None, None, :], -1e9)
        return self.Wo((F.softmax(att, -1) @ v).transpose(1, 2).reshape(B, T, C))
