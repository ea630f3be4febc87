import math
import torch
import torch.nn as nn


def positional_encoding(max_len, d_model):
    y = torch.zeros(max_len, d_model)
    for p in range(max_len):
        for i in range(d_model):
            a = math.floor(i / d_model)
            if i % 2 == 0:
                y[p, i] = math.sin(p / 10000 ** a)
            else:
                y[p, i] = math.cos(p / 10000 ** a)
    return y


class EmbeddingWithPE(nn.Module):
    def __init__(self, vocab_size, d_model, max_len=512):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pe", positional_encoding(max_len, d_model))

    def forward(self, token_ids):
        length, max_len = token_ids.shape[1], self.pe.shape[0]
        if length > max_len:
            raise ValueError(f"{length} tokens do not fit: the table has {max_len} positions")
        return self.emb(token_ids) + self.pe[:length]  # (batch, length, d_model)
