import torch
import torch.nn as nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import positional_encoding


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.max_len = max_len
        self.emb = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pe", positional_encoding(max_len, d_model))
        self.attention = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        positions = torch.arange(token_ids.shape[1]).clamp(max=self.max_len - 1)
        return self.attention(self.emb(token_ids) + self.pe[positions])
