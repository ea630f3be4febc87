import math
import torch
import torch.nn as nn


def positional_encoding(max_len, d_model):
    rows = []
    for pos in range(max_len):
        row = []
        for i in range(0, d_model, 2):
            row += [math.sin(pos / 10000 ** (i / d_model)), math.cos(pos / 10000 ** (i / d_model))]
        rows.append(row)
    return rows


class EmbeddingWithPE(nn.Module):
    def __init__(self, vocab_size, d_model, max_len=512):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pe", torch.tensor(positional_encoding(max_len, d_model)))

    def forward(self, token_ids):
        length, max_len = token_ids.shape[1], self.pe.shape[0]
        if length > max_len:
            raise ValueError("longer than max_len")
        return self.emb(token_ids) + self.pe[:length]
