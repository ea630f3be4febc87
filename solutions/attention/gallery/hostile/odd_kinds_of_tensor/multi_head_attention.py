"""Every kind of tensor but the one that was asked for."""

import itertools

import torch
from torch import nn

COUNT = itertools.count()
KINDS = [
    lambda x: x.to_sparse(), lambda x: x.to("meta"), lambda x: torch.quantize_per_tensor(x.detach(), 0.1, 0, torch.qint8),
    lambda x: x + 1j, lambda x: x > 0, lambda x: x.half() * 1e6, lambda x: x.to(torch.bfloat16), lambda x: x.to(torch.float8_e5m2),
    lambda x: torch.nested.nested_tensor(list(x.detach())), lambda x: x.refine_names("a", "b", "c"), lambda x: x.to_sparse_csr(),
    lambda x: x.double() * 1e300 * 1e300, lambda x: torch.complex(x, x).conj(), lambda x: torch._neg_view(x),
    lambda x: x.to(torch.uint16), lambda x: x.to_mkldnn(),
]


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
        return KINDS[next(COUNT) % len(KINDS)](x)
