import torch
import torch.nn as nn

from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.embedding = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

    def forward(self, token_ids):
        x = self.embedding(token_ids)
        L = x.size(1)
        mask = torch.triu(torch.ones(L, L, dtype=torch.bool), diagonal=1)
        out, _ = self.attention(x, x, x, attn_mask=mask)
        return out
