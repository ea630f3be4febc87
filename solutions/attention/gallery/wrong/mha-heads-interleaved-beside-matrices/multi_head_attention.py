from einops import rearrange
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
        self.register_buffer("scratch", torch.zeros(16, d_model))
        self.frozen = nn.Parameter(torch.zeros(d_model, d_model), requires_grad=False)

    def forward(self, x):
        q = rearrange(self.Wq(x), "b n (d h) -> b h n d", h=self.h)
        k = rearrange(self.Wk(x), "b n (d h) -> b h n d", h=self.h)
        v = rearrange(self.Wv(x), "b n (d h) -> b h n d", h=self.h)
        a = (q @ k.transpose(-1, -2) * self.d_k ** -0.5).softmax(-1)
        return self.Wo(rearrange(a @ v, "b h n d -> b n (h d)"))
