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

    def _fold(self, t):
        B, L, _ = t.size()
        t = t.view(B, L, self.h, self.d_k)
        t = t.permute(0, 2, 1, 3).contiguous()
        return t.view(B * self.h, L, self.d_k)

    def forward(self, x):
        B, L, D = x.size()
        q, k, v = self._fold(self.Wq(x)), self._fold(self.Wk(x)), self._fold(self.Wv(x))
        att = F.softmax(torch.bmm(q, k.permute(0, 2, 1)) * (1.0 / math.sqrt(k.size(-1))), dim=-1)
        y = torch.bmm(att, v).view(B, self.h, L, self.d_k)
        y = y.permute(0, 2, 1, 3).contiguous().view(B, L, D)
        return self.Wo(y)
