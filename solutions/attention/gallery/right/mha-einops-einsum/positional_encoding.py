import torch
import torch.nn as nn
from einops import rearrange, repeat


def positional_encoding(max_len, d_model):
    pos = torch.arange(max_len, dtype=torch.float32)
    freq = 10000 ** (-torch.arange(0, d_model, 2, dtype=torch.float32) / d_model)
    angles = repeat(pos, "p -> p f", f=d_model // 2) * freq
    both = torch.stack((angles.sin(), angles.cos()))
    return rearrange(both, "two p f -> p (f two)")


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
