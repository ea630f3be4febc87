import torch.nn as nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import positional_encoding


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_model)
        self.pe = positional_encoding(max_len, d_model)
        self.attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        out = self.emb(token_ids) + self.pe
        return self.attn(out)
