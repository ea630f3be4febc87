import logging
import math
import warnings

import torch
import torch.nn as nn

logging.basicConfig(level=logging.DEBUG)
log = logging.getLogger(__name__)


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
        if not self.training:
            warnings.warn("attention used in eval mode", UserWarning)
        B, L, D = x.shape
        log.debug("forward %s", tuple(x.shape))
        q = self.Wq(x).view(B, L, self.h, self.d_k).transpose(1, 2)
        k = self.Wk(x).view(B, L, self.h, self.d_k).transpose(1, 2)
        v = self.Wv(x).view(B, L, self.h, self.d_k).transpose(1, 2)
        w = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(self.d_k), dim=-1)
        log.info("entropy %.3f", -(w * (w + 1e-9).log()).sum(-1).mean())
        return self.Wo((w @ v).transpose(1, 2).reshape(B, L, D))
