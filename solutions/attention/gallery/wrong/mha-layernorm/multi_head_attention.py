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
        self.layer_norm = nn.LayerNorm(d_model)

    def forward(self, Q):
        residual, batch_size = Q, Q.size(0)
        q_s = self.Wq(Q).view(batch_size, -1, self.h, self.d_k).transpose(1, 2)
        k_s = self.Wk(Q).view(batch_size, -1, self.h, self.d_k).transpose(1, 2)
        v_s = self.Wv(Q).view(batch_size, -1, self.h, self.d_k).transpose(1, 2)
        attn = nn.Softmax(dim=-1)(torch.matmul(q_s, k_s.transpose(-1, -2)) / math.sqrt(self.d_k))
        context = torch.matmul(attn, v_s).transpose(1, 2).contiguous().view(batch_size, -1, self.h * self.d_k)
        output = self.Wo(context)
        return self.layer_norm(output + residual), attn
