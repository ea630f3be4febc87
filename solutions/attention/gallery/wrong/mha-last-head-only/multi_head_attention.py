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
        Q, K, V = self.Wq(x), self.Wk(x), self.Wv(x)
        for i in range(self.h):
            q = Q[:, :, i * self.d_k:(i + 1) * self.d_k]
            k = K[:, :, i * self.d_k:(i + 1) * self.d_k]
            v = V[:, :, i * self.d_k:(i + 1) * self.d_k]
            out = torch.zeros_like(x)
            out[:, :, i * self.d_k:(i + 1) * self.d_k] = torch.softmax(q @ k.mT / math.sqrt(self.d_k), dim=-1) @ v
        return self.Wo(out)
