import math
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

    def forward(self, x):
        # slow but I understand every line
        batch_size = x.size(0)
        seq_len = x.size(1)
        q_all = self.Wq(x)
        k_all = self.Wk(x)
        v_all = self.Wv(x)
        rows = []
        for b in range(batch_size):
            for t in range(seq_len):
                pieces = []
                for head in range(self.h):
                    lo = head * self.d_k
                    hi = (head + 1) * self.d_k
                    q = q_all[b, t, lo:hi]
                    scores = []
                    for s in range(seq_len):
                        k = k_all[b, s, lo:hi]
                        scores.append(torch.dot(q, k) / math.sqrt(self.d_k))
                    scores = torch.stack(scores)
                    p = torch.softmax(scores, dim=0)
                    mixed = torch.zeros(self.d_k)
                    for s in range(seq_len):
                        mixed = mixed + p[s] * v_all[b, s, lo:hi]
                    pieces.append(mixed)
                rows.append(torch.cat(pieces))
        out = torch.stack(rows).view(batch_size, seq_len, -1)
        return self.Wo(out)
