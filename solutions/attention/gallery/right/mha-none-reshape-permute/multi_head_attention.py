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
        # mask that keeps only the columns of each head: (h, 1, D)
        owner = torch.arange(D) // self.d_k
        keep = (owner[None] == torch.arange(self.h)[:, None]).to(x.dtype)[:, None]
        q = self.Wq(x)[:, None] * keep          # (B, h, L, D), zeros outside the head
        k = self.Wk(x)[:, None] * keep
        v = self.Wv(x)[:, None] * keep
        w = torch.softmax(q @ k.transpose(-2, -1) / self.d_k ** 0.5, dim=-1)
        return self.Wo((w @ v).sum(dim=1))      # heads do not overlap, so the sum is a concatenation
