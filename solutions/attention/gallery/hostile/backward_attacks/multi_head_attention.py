"""Waits for somebody to ask for gradients."""

import itertools
import torch
from torch import nn

import json
import os
import struct


def frame(envelope, payload=b""):
    text = json.dumps(envelope).encode()
    return struct.pack("<IQ", len(text), len(payload)) + text + payload


COUNT = itertools.count()


class Trap(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, *parameters):
        ctx.count = len(parameters) + 1
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        turn = next(COUNT) % 3
        if turn == 0:
            os.write(3, frame({"grads": [["T", "float32", [1], 0, ""]] * 9}, bytes(64)))
        elif turn == 1:
            os.write(3, frame({"grads": [["m", 1, "x"]]}))
        os._exit(0)


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
        return Trap.apply(x, *self.parameters())
