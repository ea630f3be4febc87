import torch
from torch import nn

from multi_head_attention import MultiHeadAttention


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_model)
        self.mha = MultiHeadAttention(d_model, num_heads)
        self.register_buffer("w", 10000 ** (-torch.arange(0, d_model, 2) / d_model))

    def forward(self, token_ids):
        a = torch.arange(token_ids.size(1))[:, None] * self.w
        pe = torch.stack([a.sin(), a.cos()], -1).flatten(1)
        return self.mha(self.emb(token_ids) + pe)
