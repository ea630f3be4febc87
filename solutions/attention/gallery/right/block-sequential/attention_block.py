from collections import OrderedDict

from torch import nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.net = nn.Sequential(OrderedDict([
            ("input", EmbeddingWithPE(vocab_size, d_model, max_len)),
            ("mixer", MultiHeadAttention(d_model, num_heads)),
        ]))

    def forward(self, token_ids):
        return self.net(token_ids)
