import torch.nn as nn

from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.embedding = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.attention = nn.MultiheadAttention(d_model, num_heads)

    def forward(self, token_ids):
        x = self.embedding(token_ids)
        attn_output, _ = self.attention(x, x, x)
        return attn_output
