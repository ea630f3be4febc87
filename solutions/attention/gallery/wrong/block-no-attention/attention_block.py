import torch.nn as nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.embedding = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.attention = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        return self.embedding(token_ids)
