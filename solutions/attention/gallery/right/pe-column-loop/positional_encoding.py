import torch
import torch.nn as nn


def positional_encoding(max_len, d_model):
    freq = (1e-4) ** (torch.arange(0, d_model, 2) / d_model)
    freq = freq.repeat_interleave(2)
    pos = torch.linspace(0, max_len - 1, max_len)
    columns = []
    for j, f in enumerate(freq):
        fn = torch.sin if j % 2 == 0 else torch.cos
        columns.append(fn(pos * f))
    return torch.stack(columns, dim=-1)


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
