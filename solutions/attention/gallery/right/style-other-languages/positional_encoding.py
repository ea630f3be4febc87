import torch
from torch import nn


def positional_encoding(max_len, d_model):
    # 位置编码:偶数列用 sin,奇数列用 cos
    pe = torch.zeros(max_len, d_model)
    位置 = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
    ω = torch.pow(10000.0, -torch.arange(0, d_model, 2).float() / d_model)
    pe[:, 0::2] = torch.sin(位置 * ω)
    pe[:, 1::2] = torch.cos(位置 * ω)
    return pe


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
