from __future__ import annotations

import math
from typing import Final, Tuple

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    h: Final[int]
    d_k: Final[int]

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model={d_model} is not a multiple of num_heads={num_heads}")
        self.h: int = num_heads
        self.d_k: int = d_model // num_heads
        self.Wq: nn.Linear = nn.Linear(d_model, d_model)
        self.Wk: nn.Linear = nn.Linear(d_model, d_model)
        self.Wv: nn.Linear = nn.Linear(d_model, d_model)
        self.Wo: nn.Linear = nn.Linear(d_model, d_model)

    def _qkv(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        b, l, _ = x.shape
        q = self.Wq(x).view(b, l, self.h, self.d_k).transpose(1, 2)
        k = self.Wk(x).view(b, l, self.h, self.d_k).transpose(1, 2)
        v = self.Wv(x).view(b, l, self.h, self.d_k).transpose(1, 2)
        assert q.shape == k.shape == v.shape == (b, self.h, l, self.d_k)
        return q, k, v

    def forward(self, x: Tensor) -> Tensor:
        assert x.dim() == 3, "expected (batch, length, d_model)"
        assert x.size(-1) == self.h * self.d_k
        b, l, d = x.shape
        q, k, v = self._qkv(x)
        scores: Tensor = q.matmul(k.transpose(-1, -2)).div(math.sqrt(self.d_k))
        assert scores.shape == (b, self.h, l, l)
        weights: Tensor = scores.softmax(dim=-1)
        assert torch.allclose(weights.sum(-1), torch.ones(b, self.h, l), atol=1e-4)
        out: Tensor = weights.matmul(v).transpose(1, 2).reshape(b, l, d)
        assert out.shape == x.shape
        return self.Wo(out)
