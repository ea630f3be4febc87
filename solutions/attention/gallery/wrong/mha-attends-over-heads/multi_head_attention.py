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
        b, l, d = x.size()
        queries = self.Wq(x).view(b, l, self.h, self.d_k)
        keys = self.Wk(x).view(b, l, self.h, self.d_k)
        values = self.Wv(x).view(b, l, self.h, self.d_k)
        scores = torch.matmul(queries, keys.transpose(-2, -1)) / math.sqrt(self.d_k)
        weights = F.softmax(scores, dim=-1)
        context = torch.matmul(weights, values)
        return self.Wo(context.view(b, l, d))
