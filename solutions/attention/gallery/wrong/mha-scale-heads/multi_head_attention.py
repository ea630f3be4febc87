import math
import torch
from torch import nn


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

    def attention(self, query, key, value):
        d = key.shape[1]
        S = query @ key.transpose(-1, -2) / math.sqrt(d)
        return torch.softmax(S, -1) @ value

    def transform(self, t, linear):
        bs, n = t.shape[:2]
        return linear(t).view(bs, n, self.h, self.d_k).transpose(1, 2)

    def forward(self, x):
        out = self.attention(self.transform(x, self.Wq), self.transform(x, self.Wk), self.transform(x, self.Wv))
        bs, _, n, _ = out.shape
        return self.Wo(out.transpose(1, 2).reshape(bs, n, -1))
