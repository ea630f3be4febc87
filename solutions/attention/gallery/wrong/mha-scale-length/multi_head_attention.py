import numpy as np
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
        K = x.shape[1]
        # move heads to the batch axis
        queries = torch.cat(self.Wq(x).chunk(self.h, dim=-1), dim=0)
        keys = torch.cat(self.Wk(x).chunk(self.h, dim=-1), dim=0)
        values = torch.cat(self.Wv(x).chunk(self.h, dim=-1), dim=0)
        scores = torch.bmm(queries, keys.transpose(1, 2)) / np.sqrt(K)
        attention = torch.bmm(F.softmax(scores, dim=-1), values)
        return self.Wo(torch.cat(attention.chunk(self.h, dim=0), dim=-1))
