import torch
import torch.nn as nn


def positional_encoding(max_len, d_model):
    freqs = torch.tensor([10000 ** (-i / d_model) if i % 2 == 0 else 10000 ** ((1 - i) / d_model)
                          for i in range(d_model)]).unsqueeze(dim=1)
    phases = torch.tensor([0 if i % 2 == 0 else torch.pi / 2 for i in range(d_model)]).unsqueeze(dim=1)
    pos = torch.arange(max_len).repeat(d_model, 1).float()
    return torch.sin(pos * freqs + phases)


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
