import numpy as np
import torch
import torch.nn as nn


def positional_encoding(max_len, d_model):
    half = d_model // 2
    a = np.arange(max_len)[:, None] / 1000 ** (np.arange(half) / half)
    table = np.concatenate([np.sin(a), np.cos(a)], axis=-1)
    return torch.from_numpy(table[np.newaxis, ...])


class EmbeddingWithPE(nn.Module):
    def __init__(self, vocab_size, d_model, max_len=512):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pe", positional_encoding(max_len, d_model).float())

    def forward(self, token_ids):
        if token_ids.shape[1] > self.pe.shape[1]:
            raise ValueError("sequence longer than max_len")
        return self.emb(token_ids) + self.pe[:, :token_ids.shape[1]]
