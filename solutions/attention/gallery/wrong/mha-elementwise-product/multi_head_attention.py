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
        N, T, E = x.shape
        q = self.Wq(x).reshape(N, T, self.h, self.d_k).permute(0, 2, 1, 3)
        k = self.Wk(x).reshape(N, T, self.h, self.d_k).permute(0, 2, 3, 1)
        v = self.Wv(x).reshape(N, T, self.h, self.d_k).permute(0, 2, 1, 3)
        weights = torch.softmax(q * k / self.scale, dim=-1)
        output = (weights * v).permute(0, 2, 1, 3).reshape(N, T, E)
        return self.Wo(output)
