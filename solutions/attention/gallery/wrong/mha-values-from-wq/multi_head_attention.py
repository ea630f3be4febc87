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
        bs = x.size(0)
        query = self.Wq(x).view(bs, -1, self.h, self.d_k).transpose(1, 2)
        key = self.Wk(x).view(bs, -1, self.h, self.d_k).transpose(1, 2)
        value = self.Wq(x).view(bs, -1, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        z = torch.matmul(F.softmax(scores, dim=-1), value)
        return self.Wo(z.transpose(1, 2).reshape(bs, -1, self.h * self.d_k))
