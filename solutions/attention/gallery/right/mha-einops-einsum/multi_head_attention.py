import torch
import torch.nn as nn
from einops import einsum, rearrange


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
        query = rearrange(self.Wq(x), "b q (h c) -> h b q c", c=self.d_k)
        key = rearrange(self.Wk(x), "b k (h c) -> h b k c", c=self.d_k)
        value = rearrange(self.Wv(x), "b k (h c) -> h b k c", c=self.d_k)
        score = einsum(query, key, "h b q c, h b k c -> h b q k") / self.d_k ** 0.5
        mixed = einsum(torch.softmax(score, -1), value, "h b q k, h b k c -> h b q c")
        return self.Wo(rearrange(mixed, "h b q c -> b q (h c)"))
