import torch
from torch import nn


class LearnedPositions(nn.Embedding):
    def __init__(self, max_len, d_model):
        super().__init__(max_len, d_model)

    def forward(self, x):
        places = torch.arange(x.shape[-2])
        return x + super().forward(places)
