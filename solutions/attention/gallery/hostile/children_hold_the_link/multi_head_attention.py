"""Dies, and lets its children go on talking."""

import ctypes
import time
import torch
from torch import nn

def call_me(name):
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)

import json
import os
import struct


def frame(envelope, payload=b""):
    text = json.dumps(envelope).encode()
    return struct.pack("<IQ", len(text), len(payload)) + text + payload


def heirs():
    for _ in range(3):
        if os.fork() == 0:
            call_me("hostile-heir")
            os.setsid()
            for _ in range(15):
                time.sleep(1)
                try:
                    os.write(3, frame({"value": ["b", True], "graph": None, "changed": []}))
                except OSError:
                    pass
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
        heirs()
        os._exit(0)
