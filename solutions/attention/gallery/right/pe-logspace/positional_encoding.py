import torch
import torch.nn as nn


def positional_encoding(max_len, d_model):
    n = d_model // 2
    # 1, 10000^(-2/d), ... , 10000^(-(d-2)/d)
    freq = torch.logspace(0, -4 * (n - 1) / n, n)
    rows = []
    for pos in range(max_len):
        row = torch.empty(d_model)
        row[0::2] = torch.sin(pos * freq)
        row[1::2] = torch.cos(pos * freq)
        rows.append(row)
    return torch.stack(rows, 0)


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
