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
        self.scaling = self.d_k ** -0.5

    def forward(self, x):
        bsz, tgt_len, embed_dim = x.size()
        q = self.Wq(x)
        q *= self.scaling
        k = self.Wk(x)
        v = self.Wv(x)
        q, k, v = [t.view(bsz, tgt_len, self.h, self.d_k).transpose(1, 2) for t in (q, k, v)]
        w = F.softmax(torch.matmul(q, k.transpose(-2, -1)), dim=-1)
        o = torch.matmul(w, v).transpose(1, 2).contiguous().view(bsz, tgt_len, embed_dim)
        return self.Wo(o)
