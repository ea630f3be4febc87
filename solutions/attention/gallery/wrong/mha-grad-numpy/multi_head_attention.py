import numpy as np
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
        B, L, D = x.shape
        q, k, v = (w(x).detach().numpy().reshape(B, L, self.h, self.d_k).transpose(0, 2, 1, 3)
                   for w in (self.Wq, self.Wk, self.Wv))
        s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(self.d_k)
        e = np.exp(s - s.max(-1, keepdims=True))
        z = (e / e.sum(-1, keepdims=True)) @ v
        z = z.transpose(0, 2, 1, 3).reshape(B, L, D).astype(np.float32)
        return self.Wo(torch.from_numpy(z))
