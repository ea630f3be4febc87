import torch
from torch import nn


class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.register_parameter("pe", nn.Parameter(torch.zeros(max_len, 1, d_model)))
        nn.init.uniform_(self.pe, -0.1, 0.1)

    def forward(self, x):
        x = x.transpose(0, 1)
        if x.size(0) > self.pe.size(0):
            raise RuntimeError("sequence longer than max_len")
        return (x + self.pe[: x.size(0)]).transpose(0, 1)
