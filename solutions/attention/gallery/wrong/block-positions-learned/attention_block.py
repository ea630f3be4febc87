import torch
import torch.nn as nn

from multi_head_attention import MultiHeadAttention


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.mha = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        positions = torch.arange(token_ids.shape[1])
        return self.mha(self.token_embedding(token_ids) + self.position_embedding(positions))
