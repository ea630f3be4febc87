from functools import lru_cache

import torch
import torch.nn as nn


@lru_cache(maxsize=None)
def _table(max_len, d_model):
    pos = torch.arange(max_len).unsqueeze(1)
    div = 10000 ** (torch.arange(0, d_model, 2) / d_model)
    pe = torch.zeros(max_len, d_model)
    pe[:, 0::2] = (pos / div).sin()
    pe[:, 1::2] = (pos / div).cos()
    return pe


def positional_encoding(max_len, d_model):
    return _table(max_len, d_model).clone()


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
