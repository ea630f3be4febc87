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
        if x.size(1) == 1:
            return x  # nothing to attend to
        return self.attn(x)
