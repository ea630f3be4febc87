import torch.nn as nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.embed = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.scale = d_model ** 0.5
        self.mha = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        words = self.embed.emb(token_ids) / self.scale
        return self.mha(words + self.embed.pe[:token_ids.shape[1]])
