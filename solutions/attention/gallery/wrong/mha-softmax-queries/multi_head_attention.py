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
        batch_size, seq_len, d_model = x.size()
        Q = self.Wq(x).view(batch_size, seq_len, self.h, self.d_k).permute(0, 2, 1, 3)
        K = self.Wk(x).view(batch_size, seq_len, self.h, self.d_k).permute(0, 2, 1, 3)
        V = self.Wv(x).view(batch_size, seq_len, self.h, self.d_k).permute(0, 2, 1, 3)
        scores = torch.matmul(Q, K.permute(0, 1, 3, 2)) / math.sqrt(self.d_k)
        weights = F.softmax(scores, dim=-2)
        out = torch.matmul(weights, V).permute(0, 2, 1, 3).contiguous()
        return self.Wo(out.view(batch_size, seq_len, d_model))
