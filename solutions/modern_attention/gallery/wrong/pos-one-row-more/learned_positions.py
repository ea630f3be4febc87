import torch
from torch import nn


class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.emb = nn.Embedding(max_len + 1, d_model, padding_idx=0)

    def forward(self, x):
        positions = torch.arange(1, x.shape[1] + 1)
        return x + self.emb(positions)
