from torch import nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import positional_encoding


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pe", positional_encoding(max_len, d_model))
        self.mha = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        x = self.emb(token_ids)
        return self.mha(x + self.pe[:, :x.size(1)])
