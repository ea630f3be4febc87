import torch.nn as nn

from multi_head_attention import MultiHeadAttention


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        x = self.embedding(token_ids)
        return self.attention(x)
