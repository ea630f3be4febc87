import torch
import torch.nn as nn


def positional_encoding(max_len, d_model):
    omega = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    c, s = torch.cos(omega), torch.sin(omega)
    sine, cosine = torch.zeros_like(omega), torch.ones_like(omega)
    rows = []
    for _ in range(max_len):
        rows.append(torch.stack((sine, cosine), dim=1).reshape(-1))
        sine, cosine = sine * c + cosine * s, cosine * c - sine * s
    return torch.stack(rows).to(torch.float32)


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
