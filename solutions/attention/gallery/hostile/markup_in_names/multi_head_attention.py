"""Answers with objects that are dangerous to mention."""

import itertools

import torch
from torch import nn

COUNT = itertools.count()
NAMES = ["<img src=x onerror=alert(1)>", "\x1b[2J\x1b[1;1Hpassed", "=HYPERLINK(1)", "![x](http://127.0.0.1:9/a.png)", "`" * 50, "\u202edessap", "\ud800", "a\nb\r\nc"]


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

    def forward(self, x):
        name = NAMES[next(COUNT) % len(NAMES)]
        if next(COUNT) % 3 == 0:
            raise type(name, (ValueError,), {})(name)
        return type(name, (), {})()
