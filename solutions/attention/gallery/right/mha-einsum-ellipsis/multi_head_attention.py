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
        heads_first = lambda t: t.unflatten(-1, (self.h, self.d_k)).movedim(-2, -3)
        q, k, v = map(heads_first, (self.Wq(x), self.Wk(x), self.Wv(x)))
        a = torch.einsum("...qc,...kc->...qk", q, k).mul(self.d_k ** -0.5).softmax(-1)
        o = torch.einsum("...qk,...kc->...qc", a, v)
        return self.Wo(o.movedim(-3, -2).flatten(-2))
