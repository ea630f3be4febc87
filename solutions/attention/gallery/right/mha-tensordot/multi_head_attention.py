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

    def project(self, lin, x):
        w = lin.weight.view(self.h, self.d_k, -1)          # (h, d_k, d_model)
        y = torch.tensordot(x, w, dims=([2], [2]))         # (B, L, h, d_k)
        return y + lin.bias.view(self.h, self.d_k)

    def forward(self, x):
        q, k, v = self.project(self.Wq, x), self.project(self.Wk, x), self.project(self.Wv, x)
        scores = torch.einsum("bqhc,bkhc->bqkh", q, k) / self.d_k ** 0.5
        weights = scores.softmax(dim=2)
        heads = torch.einsum("bqkh,bkhc->bqhc", weights, v)
        wo = self.Wo.weight.view(-1, self.h, self.d_k)
        return torch.tensordot(heads, wo, dims=([2, 3], [1, 2])) + self.Wo.bias
