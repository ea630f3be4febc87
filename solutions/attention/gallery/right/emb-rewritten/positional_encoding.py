import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def positional_encoding(max_len, d_model):
    pe = []
    for k in range(d_model // 2):
        w = math.exp(-2 * k * math.log(10000) / d_model)
        pe.append(torch.sin(w * torch.arange(max_len)))
        pe.append(torch.cos(w * torch.arange(max_len)))
    return torch.stack(pe).t().contiguous()


class EmbeddingWithPE(nn.Module):
    """Same as given, I only wanted to print the shapes."""

    def __init__(self, vocab_size, d_model, max_len=512):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pe", positional_encoding(max_len, d_model))

    def forward(self, token_ids):
        words = F.embedding(token_ids, self.emb.weight)
        positions = self.pe[torch.arange(token_ids.shape[1])]
        print("words", words.shape, "positions", positions.shape)
        return words + positions
