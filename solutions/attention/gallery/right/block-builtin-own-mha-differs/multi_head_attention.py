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
        per_head = zip(*(w(x).tensor_split(self.h, dim=2) for w in (self.Wq, self.Wk, self.Wv)))
        return self.Wo(torch.cat([
            torch.softmax(torch.bmm(q, k.mT) * self.d_k ** -0.5, 2).bmm(v) for q, k, v in per_head
        ], 2))
