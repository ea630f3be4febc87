import inspect
import math
import sys

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
        b, n, d = x.shape
        q = self.Wq(x).view(b, n, self.h, self.d_k).transpose(1, 2)
        k = self.Wk(x).view(b, n, self.h, self.d_k).transpose(1, 2)
        v = self.Wv(x).view(b, n, self.h, self.d_k).transpose(1, 2)
        w = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.d_k), -1)
        return self.Wo((w @ v).transpose(1, 2).reshape(b, n, d))


# for the report: how long is my solution?
SOURCE = inspect.getsource(MultiHeadAttention.forward)
MODULE = inspect.getsource(sys.modules[__name__])
LINES = len(SOURCE.splitlines())
assert "softmax" in SOURCE and len(MODULE) > len(SOURCE)
