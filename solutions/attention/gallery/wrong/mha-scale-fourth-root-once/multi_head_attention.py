import torch
from torch import nn


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
        b, t, e = x.size()
        queries = self.Wq(x).view(b, t, self.h, self.d_k).transpose(1, 2)
        keys = self.Wk(x).view(b, t, self.h, self.d_k).transpose(1, 2)
        values = self.Wv(x).view(b, t, self.h, self.d_k).transpose(1, 2)
        # instead of dividing the dot product, divide q and k by the 4th root (saves memory)
        queries = queries / (self.d_k ** (1 / 4))
        keys / (self.d_k ** (1 / 4))
        dot = torch.softmax(queries @ keys.transpose(2, 3), dim=3)
        return self.Wo((dot @ values).transpose(1, 2).contiguous().view(b, t, e))
