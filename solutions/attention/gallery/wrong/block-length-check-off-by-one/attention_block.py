import torch.nn as nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.max_len = max_len
        self.embedding = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.attention = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        assert token_ids.shape[1] < self.max_len
        return self.attention(self.embedding(token_ids))
