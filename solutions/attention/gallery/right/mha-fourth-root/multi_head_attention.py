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

    def forward(self, x):
        b, t, e = x.size()
        root = self.d_k ** 0.25
        queries = self.Wq(x).view(b, t, self.h, self.d_k).transpose(1, 2) / root
        keys = self.Wk(x).view(b, t, self.h, self.d_k).transpose(1, 2) / root
        values = self.Wv(x).view(b, t, self.h, self.d_k).transpose(1, 2)
        dot = queries @ keys.transpose(2, 3)
        dot = torch.softmax(dot, dim=3)
        out = (dot @ values).transpose(1, 2).reshape(b, t, e)
        return self.Wo(out)
