import torch
import torch.nn as nn

from multi_head_attention import MultiHeadAttention, merge, split
from positional_encoding import angles, interleave


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        e = self.tokens(token_ids)
        where = angles(torch.arange(token_ids.size(1)), e.size(-1))
        return self.attention(e + interleave(torch.sin(where), torch.cos(where)))
