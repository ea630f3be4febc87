import math

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
        b, n, d = x.shape
        # (h*b, n, d_k)
        q = torch.cat(torch.chunk(self.Wq(x), self.h, dim=2), dim=0)
        k = torch.cat(torch.chunk(self.Wk(x), self.h, dim=2), dim=0)
        v = torch.cat(torch.chunk(self.Wv(x), self.h, dim=2), dim=0)
        a = F.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.d_k), dim=-1)
        z = torch.bmm(a, v)
        z = z.view(b, self.h, n, self.d_k).transpose(1, 2).reshape(b, n, d)
        return self.Wo(z)
