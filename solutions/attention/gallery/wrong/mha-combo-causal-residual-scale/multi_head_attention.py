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
        B, T, C = x.shape
        tril = torch.tril(torch.ones(T, T))
        outs = []
        for q, k, v in zip(*(w(x).split(self.d_k, -1) for w in (self.Wq, self.Wk, self.Wv))):
            wei = q @ k.transpose(-2, -1)
            wei = wei.masked_fill(tril == 0, float("-inf"))
            outs.append(F.softmax(wei, dim=-1) @ v)
        return x + self.Wo(torch.cat(outs, dim=-1))
