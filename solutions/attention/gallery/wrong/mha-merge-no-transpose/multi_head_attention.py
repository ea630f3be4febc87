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
        batch_size, sequence_length, d_model = x.size()
        qkv = torch.cat([self.Wq(x), self.Wk(x), self.Wv(x)], dim=-1)
        qkv = qkv.reshape(batch_size, sequence_length, 3, self.h, self.d_k).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        scaled = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.d_k)
        attention = F.softmax(scaled, dim=-1)
        values = torch.matmul(attention, v)
        values = values.reshape(batch_size, sequence_length, self.h * self.d_k)
        return self.Wo(values)
