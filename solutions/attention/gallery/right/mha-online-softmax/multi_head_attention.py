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
        q = self.Wq(x).view(B, L, self.h, self.d_k) * self.d_k ** -0.5
        k = self.Wk(x).view(B, L, self.h, self.d_k)
        v = self.Wv(x).view(B, L, self.h, self.d_k)
        top = torch.full((B, L, self.h, 1), float("-inf"))
        total = torch.zeros(B, L, self.h, 1)
        acc = torch.zeros(B, L, self.h, self.d_k)
        for j in range(L):
            s = (q * k[:, j:j + 1]).sum(-1, keepdim=True)
            new_top = torch.maximum(top, s)
            old = torch.exp(top - new_top)
            new = torch.exp(s - new_top)
            total = total * old + new
            acc = acc * old + new * v[:, j:j + 1]
            top = new_top
        return self.Wo((acc / total).reshape(B, L, D))
