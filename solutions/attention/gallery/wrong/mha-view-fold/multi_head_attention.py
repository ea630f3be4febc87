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
        batch_size = x.size(0)
        Q = self.Wq(x).view(batch_size * self.h, -1, self.d_k)
        K = self.Wk(x).view(batch_size * self.h, -1, self.d_k)
        V = self.Wv(x).view(batch_size * self.h, -1, self.d_k)
        scale = K.size(-1) ** -0.5
        attention = torch.matmul(Q, K.permute(0, 2, 1)) * scale
        attention = F.softmax(attention, dim=-1)
        context = torch.matmul(attention, V)
        context = context.view(batch_size, -1, self.d_k * self.h)
        return self.Wo(context)
