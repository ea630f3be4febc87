"""More and more threads."""

import threading
import time

import torch
from torch import nn

def explode():
    try:
        for _ in range(2000):
            threading.Thread(target=time.sleep, args=(15,), daemon=True).start()
    except RuntimeError:
        pass
    torch.set_num_threads(64)


explode()


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
