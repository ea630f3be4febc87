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
        self.softmax = nn.Softmax()

    def forward(self, x):
        batch_size, length, d_model = x.size()
        q = self.Wq(x).view(batch_size, self.h, length, self.d_k)
        k = self.Wk(x).view(batch_size, self.h, length, self.d_k)
        v = self.Wv(x).view(batch_size, self.h, length, self.d_k)
        k_t = k.view(batch_size, self.h, self.d_k, length)   # transpose
        score = (q @ k_t) / math.sqrt(self.d_k)
        score = self.softmax(score)
        out = score @ v
        return self.Wo(out.view(batch_size, length, d_model))
