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
        batch, length, d_model = x.shape

        # 1. linear projections
        q = self.Wq(x)
        k = self.Wk(x)
        v = self.Wv(x)

        # 2. split into heads
        q = q.view(batch, length, self.h, self.d_k).transpose(1, 2)
        k = k.view(batch, length, self.h, self.d_k).transpose(1, 2)
        v = v.view(batch, length, self.h, self.d_k).transpose(1, 2)

        # 3. scaled dot product
        scores = q @ k.transpose(-2, -1) / math.sqrt(d_model)
        weights = F.softmax(scores, dim=-1)

        # 4. concatenate
        out = (weights @ v).transpose(1, 2).reshape(batch, length, d_model)
        return self.Wo(out)
