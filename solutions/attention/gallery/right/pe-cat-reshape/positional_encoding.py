import torch
import torch.nn as nn


def positional_encoding(max_len, d_model):
    half = d_model // 2
    w = torch.exp(-torch.log(torch.tensor(10000.0)) * torch.arange(half) / half)
    x = torch.arange(max_len).reshape(max_len, 1) * w
    sin_cos = torch.cat((x.sin(), x.cos()), dim=1)            # halves side by side
    return sin_cos.reshape(max_len, 2, half).transpose(1, 2).reshape(max_len, d_model)


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
