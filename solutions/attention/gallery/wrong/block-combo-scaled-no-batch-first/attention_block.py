import math
import torch.nn as nn

from positional_encoding import positional_encoding


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.d = d_model
        self.emb = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pe", positional_encoding(max_len, d_model))
        self.mha = nn.MultiheadAttention(d_model, num_heads)

    def forward(self, token_ids):
        x = self.emb(token_ids) * math.sqrt(self.d) + self.pe[:token_ids.size(1)]
        return self.mha(x, x, x)[0]
