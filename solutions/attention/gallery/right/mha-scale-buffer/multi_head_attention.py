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
        self.register_buffer("scale", torch.tensor(self.d_k).float().sqrt(), persistent=False)

    def forward(self, x):
        batch, length, _ = x.shape
        Q = self.Wq(x).view(batch, length, self.h, self.d_k).permute(0, 2, 1, 3)
        K = self.Wk(x).view(batch, length, self.h, self.d_k).permute(0, 2, 1, 3)
        V = self.Wv(x).view(batch, length, self.h, self.d_k).permute(0, 2, 1, 3)
        energy = torch.matmul(Q, K.permute(0, 1, 3, 2)) / self.scale
        attention = torch.softmax(energy, dim=-1)
        x = torch.matmul(attention, V).permute(0, 2, 1, 3).contiguous()
        return self.Wo(x.view(batch, -1, self.h * self.d_k))
