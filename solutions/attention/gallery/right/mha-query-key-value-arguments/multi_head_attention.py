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
        self.attn = None

    def forward(self, query, key=None, value=None):
        key = query if key is None else key
        value = key if value is None else value
        nbatches = query.size(0)
        q, k, v = [
            lin(t).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for lin, t in zip([self.Wq, self.Wk, self.Wv], [query, key, value])
        ]
        s = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        self.attn = s.softmax(dim=-1)   # kept for plotting
        z = torch.matmul(self.attn, v).transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.Wo(z)
