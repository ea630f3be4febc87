import torch.nn as nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import EmbeddingWithPE, positional_encoding


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.embedding = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.register_buffer("pos", positional_encoding(max_len, d_model))
        self.attention = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        x = self.embedding(token_ids)
        x = x + self.pos[: x.shape[1]]
        return self.attention(x)
