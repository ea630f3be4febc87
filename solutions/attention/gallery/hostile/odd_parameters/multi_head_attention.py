"""Returns x; its parameters are empty, huge, oddly named or of odd kinds."""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model is not divisible by num_heads")
        self.h = num_heads
        self.d_k = d_model // num_heads
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, d_model)
        self.Wv = nn.Linear(d_model, d_model)
        self.Wo = nn.Linear(d_model, d_model)
        self.register_parameter("\ud800", nn.Parameter(torch.ones(2, 3)))
        self.register_parameter("<b>\x1b[31m=1+1\n", nn.Parameter(torch.ones(1)))
        self.register_parameter("empty", nn.Parameter(torch.ones(3, 0)))
        self.register_parameter("scalar", nn.Parameter(torch.tensor(1.0)))
        self.register_parameter("sixteen", nn.Parameter(torch.ones(2, 2, dtype=torch.float16)))
        self.register_parameter("imaginary", nn.Parameter(torch.ones(2, 2, dtype=torch.complex64)))
        self.register_parameter("whole", nn.Parameter(torch.ones(2, 2, dtype=torch.int32), requires_grad=False))
        self.register_buffer("huge", torch.ones(1).expand(1 << 20))
        self.register_buffer("sparse", torch.eye(3).to_sparse())

    def forward(self, x):
        return x
