import torch.nn as nn
import positional_encoding
from multi_head_attention import MultiHeadAttention as MHA


class AttentionBlock(nn.Module):
    def __init__(self, n_words, width, n_heads, max_len=512):
        super(AttentionBlock, self).__init__()
        self.a = MHA(width, n_heads)
        self.b = positional_encoding.EmbeddingWithPE(n_words, width, max_len)

    def forward(self, sentence):
        return self.a(self.b(sentence))
