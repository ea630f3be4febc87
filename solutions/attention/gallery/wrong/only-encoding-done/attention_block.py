import torch
from torch import nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        raise NotImplementedError("attention / attention_block: __init__")

    def forward(self, token_ids):
        raise NotImplementedError("attention / attention_block: forward")
