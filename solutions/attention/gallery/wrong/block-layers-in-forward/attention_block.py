import torch.nn as nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.d_model, self.num_heads = d_model, num_heads
        self.emb = EmbeddingWithPE(vocab_size, d_model, max_len)

    def forward(self, token_ids):
        attention = MultiHeadAttention(self.d_model, self.num_heads)
        return attention(self.emb(token_ids))
