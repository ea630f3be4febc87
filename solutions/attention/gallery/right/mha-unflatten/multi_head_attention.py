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

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q = self.Wq(x).unflatten(-1, (self.h, -1)).transpose(1, 2)
        k = self.Wk(x).unflatten(-1, (self.h, -1)).transpose(1, 2)
        v = self.Wv(x).unflatten(-1, (self.h, -1)).transpose(1, 2)
        scale = torch.rsqrt(torch.tensor(float(self.d_k)))
        attn = (q @ k.mT * scale).softmax(dim=-1)
        return self.Wo((attn @ v).transpose(1, 2).flatten(2))
