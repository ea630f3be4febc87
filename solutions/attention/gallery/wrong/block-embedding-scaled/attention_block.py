import math
import torch.nn as nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import positional_encoding


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pe", positional_encoding(max_len, d_model))
        self.attention = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        # section 3.4: multiply those weights by sqrt(d_model)
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        x = x + self.pe[: token_ids.size(1)]
        return self.attention(x)
