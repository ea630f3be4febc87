import torch
import torch.nn as nn


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

    def one_sentence(self, s):
        """s: (length, d_model)"""
        Q, K, V = self.Wq(s), self.Wk(s), self.Wv(s)
        parts = []
        for i in range(self.h):
            cols = slice(i * self.d_k, (i + 1) * self.d_k)
            logits = Q[:, cols] @ K[:, cols].t()
            logits = logits / (self.d_k ** 0.5)
            parts.append(torch.softmax(logits, dim=1) @ V[:, cols])
        return self.Wo(torch.cat(parts, dim=1))

    def forward(self, x):
        outs = []
        for sentence in x:
            outs.append(self.one_sentence(sentence))
        return torch.stack(outs)
