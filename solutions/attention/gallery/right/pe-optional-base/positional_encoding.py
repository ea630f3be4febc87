import torch
import torch.nn as nn


def positional_encoding(max_len, d_model, base=10000.0, *, device=None):
    if max_len <= 0:
        raise ValueError("max_len must be positive")
    position = torch.arange(max_len, device=device, dtype=torch.float32)
    exponent = torch.arange(0, d_model, 2, device=device, dtype=torch.float32).div_(d_model)
    angle = position.unsqueeze(1).mul(base ** -exponent)
    pe = position.new_empty(max_len, d_model)
    torch.sin(angle, out=angle_out(pe, 0))
    pe[:, 1::2].copy_(angle.cos())
    return pe


def angle_out(pe, first):
    return pe[:, first::2]


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
