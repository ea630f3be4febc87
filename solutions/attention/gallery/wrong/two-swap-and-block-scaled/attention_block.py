import math
from torch import nn

from positional_encoding import positional_encoding


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.factor = math.sqrt(d_model)
        self.emb = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pe", positional_encoding(max_len, d_model))
        self.mha = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

    def forward(self, token_ids):
        x = self.emb(token_ids) * self.factor + self.pe[:token_ids.size(1)]
        return self.mha(x, x, x, need_weights=False)[0]
