from functools import partial
from math import *

from torch import *
from torch.nn import *
import torch

SOFTMAX = partial(torch.softmax, dim=-1)


class MultiHeadAttention(Module):
    def __init__(self, d_model, num_heads):
        super(MultiHeadAttention, self).__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model % num_heads != 0")
        self.h = num_heads
        self.d_k = d_model // num_heads
        self.Wq = Linear(d_model, d_model)
        self.Wk = Linear(d_model, d_model)
        self.Wv = Linear(d_model, d_model)
        self.Wo = Linear(d_model, d_model)

    def forward(self, x):
        n, t, e = x.size()
        q = self.Wq(x).view(n, t, self.h, e // self.h).transpose(1, 2)
        k = self.Wk(x).view(n, t, self.h, e // self.h).transpose(1, 2)
        v = self.Wv(x).view(n, t, self.h, e // self.h).transpose(1, 2)
        y = SOFTMAX((q @ k.transpose(-2, -1)) * (e // self.h) ** -0.5) @ v
        return self.Wo(y.transpose(1, 2).contiguous().view(n, t, e))
