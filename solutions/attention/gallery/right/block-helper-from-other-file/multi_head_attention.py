import torch
import torch.nn as nn


def split(t, h):
    return t.unflatten(-1, (h, -1)).transpose(-2, -3)


def merge(t):
    return t.transpose(-2, -3).flatten(-2)


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
        q, k, v = (split(w(x), self.h) for w in (self.Wq, self.Wk, self.Wv))
        return self.Wo(merge((q @ k.mT / self.d_k ** 0.5).softmax(-1) @ v))
