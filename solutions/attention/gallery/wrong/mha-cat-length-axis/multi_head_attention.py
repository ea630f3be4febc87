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
        res = []
        for q, k, v in zip(self.Wq(x).chunk(self.h, -1), self.Wk(x).chunk(self.h, -1), self.Wv(x).chunk(self.h, -1)):
            res.append(torch.bmm(F.softmax(torch.bmm(q, k.transpose(1, 2)) / self.d_k ** 0.5, dim=-1), v))
        res = torch.cat(res, dim=1)
        return self.Wo(res)
