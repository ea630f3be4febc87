import math

import torch
import torch.nn as nn
import torch.nn.functional as F


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
        bsz, seqlen, _ = x.shape
        xq, xk, xv = self.Wq(x), self.Wk(x), self.Wv(x)
        xq = xq.view(bsz, seqlen, self.h, self.d_k).transpose(1, 2)
        xk = xk.view(bsz, seqlen, self.h, self.d_k).transpose(1, 2)
        xv = xv.view(bsz, seqlen, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(xq, xk.transpose(2, 3)) / math.sqrt(self.d_k)
        scores = F.softmax(scores.float(), dim=-1).type_as(xq)
        output = torch.matmul(scores, xv)
        return self.Wo(output.transpose(1, 2).contiguous().view(bsz, seqlen, -1))
