from torch import nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Sequential):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__(EmbeddingWithPE(vocab_size, d_model, max_len), MultiHeadAttention(d_model, num_heads))
