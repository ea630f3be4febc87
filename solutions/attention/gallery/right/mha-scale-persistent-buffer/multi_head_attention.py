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
        self.register_buffer("inv_sqrt", torch.tensor(1.0 / self.d_k ** 0.5))

    def forward(self, x):
        B, L, D = x.shape
        q, k, v = (p(x).view(B, L, self.h, self.d_k).transpose(1, 2) for p in (self.Wq, self.Wk, self.Wv))
        w = torch.softmax(self.inv_sqrt * (q @ k.transpose(2, 3)), dim=-1)
        return self.Wo((w @ v).transpose(1, 2).reshape(B, L, D))
