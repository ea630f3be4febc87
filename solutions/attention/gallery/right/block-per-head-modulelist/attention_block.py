import torch
import torch.nn as nn
from positional_encoding import EmbeddingWithPE


class Head(nn.Module):
    def __init__(self, d_model, size):
        super().__init__()
        self.query = nn.Linear(d_model, size)
        self.key = nn.Linear(d_model, size)
        self.value = nn.Linear(d_model, size)

    def forward(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        w = torch.softmax(q @ k.transpose(1, 2) * k.shape[-1] ** -0.5, dim=-1)
        return w @ v


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.embed = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.heads = nn.ModuleList([Head(d_model, d_model // num_heads) for _ in range(num_heads)])
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, token_ids):
        x = self.embed(token_ids)
        return self.proj(torch.cat([head(x) for head in self.heads], dim=-1))
