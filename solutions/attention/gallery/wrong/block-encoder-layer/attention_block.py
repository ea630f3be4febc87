import torch.nn as nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.embedding = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.ff = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.ReLU(), nn.Linear(4 * d_model, d_model))

    def forward(self, token_ids):
        x = self.embedding(token_ids)
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.ff(x))
