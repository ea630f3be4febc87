# -*- coding: utf-8 -*-
import math

import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    """Многоголовое внимание (лабораторная работа № 4)."""

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
        B, L, D = x.shape
        # разбиваем последнюю ось на головы: (B, h, L, d_k)
        Q = self.Wq(x).view(B, L, self.h, self.d_k).transpose(1, 2)
        K = self.Wk(x).view(B, L, self.h, self.d_k).transpose(1, 2)
        V = self.Wv(x).view(B, L, self.h, self.d_k).transpose(1, 2)
        # делим на √d_k, иначе softmax «насыщается»
        α = torch.softmax(Q @ K.transpose(-2, -1) / math.sqrt(self.d_k), dim=-1)
        # склеиваем головы обратно
        out = (α @ V).transpose(1, 2).contiguous().view(B, L, D)
        return self.Wo(out)
