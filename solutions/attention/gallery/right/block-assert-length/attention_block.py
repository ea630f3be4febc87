import torch.nn as nn
from multi_head_attention import MultiHeadAttention
from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.block_size = max_len
        self.emb = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.mha = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        b, t = token_ids.size()
        assert t <= self.block_size, f"sequence of {t} tokens, block size is only {self.block_size}"
        return self.mha(self.emb(token_ids))
