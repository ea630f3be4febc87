import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("embedding size needs to be divisible by heads")
        self.h = num_heads
        self.d_k = d_model // num_heads
        self.Wv = nn.Linear(self.d_k, self.d_k)
        self.Wk = nn.Linear(self.d_k, self.d_k)
        self.Wq = nn.Linear(self.d_k, self.d_k)
        self.Wo = nn.Linear(d_model, d_model)

    def forward(self, x):
        N, L, E = x.shape
        x = x.reshape(N, L, self.h, self.d_k)
        v, k, q = self.Wv(x), self.Wk(x), self.Wq(x)
        energy = torch.einsum("nqhd,nkhd->nhqk", q, k)
        attention = torch.softmax(energy / self.d_k ** 0.5, dim=3)
        return self.Wo(torch.einsum("nhqk,nkhd->nqhd", attention, v).reshape(N, L, E))
