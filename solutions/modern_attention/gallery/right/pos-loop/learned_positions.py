import torch
from torch import nn


class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.rows = nn.Parameter(torch.zeros(max_len, d_model))

    def forward(self, x):
        out = []
        for t in range(x.shape[1]):
            out.append(x[:, t] + self.rows[t])
        return torch.stack(out, dim=1)
