import torch
import torch.nn as nn


def positional_encoding(max_len, d_model):
    position = torch.ones(max_len).cumsum(0) - 1
    ratio = torch.full((d_model // 2,), 10000.0 ** (-2 / d_model), dtype=torch.float64)
    ratio[0] = 1.0
    freq = ratio.cumprod(0)
    angle = position.double()[:, None] * freq[None]
    pe = torch.stack((angle.sin(), angle.cos()), 2).view(max_len, d_model)
    return pe.to(torch.float32)


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
