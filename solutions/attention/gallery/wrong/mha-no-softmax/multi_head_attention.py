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
        batch, length, d_model = x.shape
        q = self.Wq(x).view(batch, length, self.h, self.d_k).transpose(1, 2)
        k = self.Wk(x).view(batch, length, self.h, self.d_k).transpose(1, 2)
        v = self.Wv(x).view(batch, length, self.h, self.d_k).transpose(1, 2)
        attention = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.d_k)
        # TODO softmax??
        out = torch.matmul(attention, v)
        out = out.transpose(1, 2).contiguous().view(batch, length, d_model)
        return self.Wo(out)
