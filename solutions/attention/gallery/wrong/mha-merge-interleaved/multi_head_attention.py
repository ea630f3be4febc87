import math
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
        heads = []
        for q, k, v in zip(*[w(x).chunk(self.h, -1) for w in (self.Wq, self.Wk, self.Wv)]):
            heads.append(torch.softmax(q @ k.mT / math.sqrt(self.d_k), -1) @ v)
        out = torch.stack(heads, dim=-1)      # (batch, length, d_k, h)
        return self.Wo(out.flatten(-2))
