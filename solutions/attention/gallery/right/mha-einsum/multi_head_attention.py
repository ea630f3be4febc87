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
        b, l, d = x.shape
        q = self.Wq(x).reshape(b, l, self.h, self.d_k)
        k = self.Wk(x).reshape(b, l, self.h, self.d_k)
        v = self.Wv(x).reshape(b, l, self.h, self.d_k)
        # b batch, i query, j key, n head, c channel
        scores = torch.einsum("binc,bjnc->bnij", q, k) / self.d_k ** 0.5
        weights = torch.softmax(scores, dim=-1)
        mixed = torch.einsum("bnij,bjnc->binc", weights, v)
        return self.Wo(mixed.reshape(b, l, d))
