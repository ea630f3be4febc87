import torch
import torch.nn as nn


def positional_encoding(max_len, d_model):
    pos = torch.arange(max_len)[:, None]
    i = torch.arange(d_model)[None, :]
    angle = pos / 10000.0 ** (2 * torch.div(i, 2, rounding_mode="floor") / d_model)
    return torch.sin(angle) * (i % 2 == 0) + torch.cos(angle) * (i % 2 == 1)


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
