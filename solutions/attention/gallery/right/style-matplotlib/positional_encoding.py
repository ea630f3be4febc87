import matplotlib.pyplot as plt
import torch
from torch import nn


def positional_encoding(max_len, d_model):
    p = torch.arange(max_len).float()[:, None]
    w = 1 / 10000 ** (torch.arange(0, d_model, 2).float() / d_model)
    out = torch.empty(max_len, d_model)
    out[:, ::2], out[:, 1::2] = torch.sin(p * w), torch.cos(p * w)
    return out


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


if __name__ == "__main__":
    plt.pcolormesh(positional_encoding(50, 64).T)
    plt.colorbar()
    plt.show()
