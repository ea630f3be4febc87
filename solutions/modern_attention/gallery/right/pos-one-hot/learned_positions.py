import torch
import torch.nn.functional as F
from torch import nn


class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, x):
        n, max_len = x.shape[1], self.weight.shape[0]
        if n > max_len:
            raise ValueError(f"{n} > {max_len}")
        select = F.one_hot(torch.arange(n), max_len).to(x.dtype)
        return x + select @ self.weight
