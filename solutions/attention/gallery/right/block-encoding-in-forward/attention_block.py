import torch
import torch.nn as nn
from multi_head_attention import MultiHeadAttention
from positional_encoding import positional_encoding


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.d_model = d_model
        self.max_len = max_len
        self.lookup = nn.Embedding(vocab_size, d_model)
        self.attend = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        e = self.lookup(token_ids)
        # no need for a table, any length works
        e = torch.add(e, positional_encoding(token_ids.size(-1), self.d_model))
        return self.attend(e)
