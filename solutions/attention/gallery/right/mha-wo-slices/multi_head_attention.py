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
        Q, K, V = self.Wq(x), self.Wk(x), self.Wv(x)
        result = self.Wo.bias.expand(x.shape)
        for i in range(self.h):
            s = slice(i * self.d_k, (i + 1) * self.d_k)
            scores = torch.bmm(Q[..., s], K[..., s].transpose(1, 2)) * self.d_k ** -0.5
            head = torch.bmm(torch.softmax(scores, dim=-1), V[..., s])
            # concat then Wo is the same as summing these
            result = result + head @ self.Wo.weight[:, s].T
        return result
