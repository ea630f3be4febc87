import torch
from einops import rearrange
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
        q, k, v = (rearrange(w(x), "b n (h d) -> b h n d", h=self.h)
                   for w in (self.Wq, self.Wk, self.Wv))
        dots = torch.matmul(q, rearrange(k, "b h n d -> b h d n")) * self.d_k ** -0.5
        attn = dots.softmax(dim=-1)
        out = rearrange(attn @ v, "b h n d -> b n (h d)")
        return self.Wo(out)
