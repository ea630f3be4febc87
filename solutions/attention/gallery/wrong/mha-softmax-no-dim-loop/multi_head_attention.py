import torch
import torch.nn as nn
import torch.nn.functional as F


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
        Q = self.Wq(x).split(self.d_k, dim=2)
        K = self.Wk(x).split(self.d_k, dim=2)
        V = self.Wv(x).split(self.d_k, dim=2)
        Z = []
        for q, k, v in zip(Q, K, V):
            a = F.softmax(torch.bmm(q, k.permute(0, 2, 1)) / self.d_k ** 0.5)
            Z.append(torch.bmm(a, v))
        return self.Wo(torch.cat(Z, dim=2))
