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
        outs = []
        for i, piece in enumerate(x.chunk(self.h, dim=-1)):
            s = slice(i * self.d_k, (i + 1) * self.d_k)
            q = F.linear(piece, self.Wq.weight[s, s], self.Wq.bias[s])
            k = F.linear(piece, self.Wk.weight[s, s], self.Wk.bias[s])
            v = F.linear(piece, self.Wv.weight[s, s], self.Wv.bias[s])
            outs.append(F.softmax(q @ k.transpose(1, 2) / self.d_k ** 0.5, dim=-1) @ v)
        return self.Wo(torch.cat(outs, dim=-1))
