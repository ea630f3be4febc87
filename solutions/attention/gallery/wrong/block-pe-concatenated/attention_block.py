import torch
import torch.nn as nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import positional_encoding


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pe", positional_encoding(max_len, d_model))
        self.merge = nn.Linear(2 * d_model, d_model)
        self.mha = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        x = self.emb(token_ids)
        pos = self.pe[:x.shape[1]].expand(x.shape)
        return self.mha(self.merge(torch.cat([x, pos], dim=-1)))
