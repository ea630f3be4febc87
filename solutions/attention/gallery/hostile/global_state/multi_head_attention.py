"""Returns x in a world turned upside down."""

import decimal
import gc
import locale
import os
import random
import sys
import warnings

import numpy as np
import torch
from torch import nn

torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.use_deterministic_algorithms(True)
torch.set_num_threads(64)
torch.manual_seed(0)
torch.set_flush_denormal(True)
torch.set_default_device("meta")
np.seterr(all="raise")
sys.setrecursionlimit(10**6)
warnings.simplefilter("error")
locale.setlocale(locale.LC_ALL, "C")
os.umask(0o777)
os.environ.clear()
gc.disable()
decimal.getcontext().prec = 1
random.seed(0)
sys.stdout = sys.stderr = None
sys.path.clear()
os.chdir("/")


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
