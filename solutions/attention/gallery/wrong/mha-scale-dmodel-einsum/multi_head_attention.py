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
        self.embed_size = d_model

    def forward(self, x):
        N, length, _ = x.shape
        values = self.Wv(x).reshape(N, length, self.h, self.d_k)
        keys = self.Wk(x).reshape(N, length, self.h, self.d_k)
        queries = self.Wq(x).reshape(N, length, self.h, self.d_k)
        energy = torch.einsum("nqhd,nkhd->nhqk", [queries, keys])
        attention = torch.softmax(energy / (self.embed_size ** (1 / 2)), dim=3)
        out = torch.einsum("nhql,nlhd->nqhd", [attention, values])
        return self.Wo(out.reshape(N, length, self.h * self.d_k))
