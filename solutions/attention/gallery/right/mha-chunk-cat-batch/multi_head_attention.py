import numpy as np
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
        q = torch.cat(self.Wq(x).chunk(self.h, dim=-1), dim=0)   # (h*batch, length, d_k)
        k = torch.cat(self.Wk(x).chunk(self.h, dim=-1), dim=0)
        v = torch.cat(self.Wv(x).chunk(self.h, dim=-1), dim=0)
        attention = torch.bmm(q, k.transpose(1, 2)) / np.sqrt(self.d_k)
        attention = torch.softmax(attention, dim=-1)
        heads = torch.bmm(attention, v)
        out = torch.cat(heads.chunk(self.h, dim=0), dim=-1)
        return self.Wo(out)
