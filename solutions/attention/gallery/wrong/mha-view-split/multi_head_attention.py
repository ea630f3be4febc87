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
        B, L, D = x.shape
        # (batch, heads, length, d_k)
        q = self.Wq(x).view(B, self.h, L, self.d_k)
        k = self.Wk(x).view(B, self.h, L, self.d_k)
        v = self.Wv(x).view(B, self.h, L, self.d_k)
        a = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.d_k), dim=-1)
        out = (a @ v).transpose(1, 2).contiguous().view(B, L, D)
        return self.Wo(out)
