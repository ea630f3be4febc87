import torch
import torch.nn as nn


def positional_encoding(max_len, d_model):
    pos = torch.arange(max_len, dtype=torch.float32).view(-1, 1)
    i = torch.arange(d_model // 2, dtype=torch.float32)
    angle = pos * 10 ** (-4 * (2 * i) / d_model)
    return torch.stack([torch.sin(angle), torch.cos(angle)], dim=-1).flatten(1)


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
