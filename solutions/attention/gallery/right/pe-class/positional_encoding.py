import torch
import torch.nn as nn


class SinusoidTable:
    def __init__(self, d_model):
        self.d_model = d_model

    def angle(self, pos):
        i = torch.arange(0, self.d_model, 2)
        return pos / (10000 ** (i / self.d_model))

    def __getitem__(self, pos):
        row = torch.zeros(self.d_model)
        row[0::2] = torch.sin(self.angle(pos))
        row[1::2] = torch.cos(self.angle(pos))
        return row


def positional_encoding(max_len, d_model):
    table = SinusoidTable(d_model)
    return nn.Parameter(torch.stack([table[p] for p in range(max_len)]), requires_grad=False)


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
