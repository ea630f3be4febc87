import torch
import torch.nn as nn


class LearnedPositions(nn.Module):
    def __init__(self, max_len: int, d_model: int):
        super().__init__()
        self.pos_embed = nn.Parameter(torch.zeros(1, max_len, d_model))
        nn.init.trunc_normal_(self.pos_embed, std=0.02)
        self.max_len = max_len

    def forward(self, x):
        assert x.shape[1] <= self.max_len, "sequence too long"
        return x + self.pos_embed[:, : x.shape[1], :]
