import torch
from torch import nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.embed = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        x = self.embed(token_ids)
        # long texts piece by piece, to save memory
        return torch.cat([self.attn(piece) for piece in x.split(100, dim=1)], dim=1)
