import torch.nn as nn
import torch.nn.functional as F

from multi_head_attention import MultiHeadAttention
from positional_encoding import positional_encoding


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.vocab_size = vocab_size
        self.linear = nn.Linear(vocab_size, d_model)
        self.register_buffer("pe", positional_encoding(max_len, d_model))
        self.attention = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        x = self.linear(F.one_hot(token_ids, self.vocab_size).float())
        return self.attention(x + self.pe[:x.size(1)])
