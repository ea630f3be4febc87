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
        n, t, c = x.shape
        q = self.Wq(x).transpose(1, 2).reshape(n, self.h, self.d_k, t)
        k = self.Wk(x).transpose(1, 2).reshape(n, self.h, self.d_k, t)
        v = self.Wv(x).transpose(1, 2).reshape(n, self.h, self.d_k, t)
        s = torch.einsum("nhdk,nhdq->nhkq", k, q) / self.d_k ** .5
        a = s.softmax(dim=2)
        y = torch.einsum("nhdk,nhkq->nhdq", v, a)
        return self.Wo(y.reshape(n, c, t).transpose(1, 2))
