import torch
from torch import nn

from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    """Every projection has an axis for heads and one for their features."""

    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.embed = EmbeddingWithPE(vocab_size, d_model, max_len)
        d_k = d_model // num_heads
        scale = d_model**-0.5
        self.query = nn.Parameter(torch.randn(d_model, num_heads, d_k) * scale)
        self.key = nn.Parameter(torch.randn(d_model, num_heads, d_k) * scale)
        self.value = nn.Parameter(torch.randn(d_model, num_heads, d_k) * scale)
        self.out = nn.Parameter(torch.randn(num_heads, d_k, d_model) * scale)
        self.query_bias = nn.Parameter(torch.randn(num_heads, d_k))
        self.key_bias = nn.Parameter(torch.randn(num_heads, d_k))
        self.value_bias = nn.Parameter(torch.randn(num_heads, d_k))
        self.out_bias = nn.Parameter(torch.randn(d_model))

    def forward(self, token_ids):
        x = self.embed(token_ids)
        q = torch.einsum("bld,dhk->blhk", x, self.query) + self.query_bias
        k = torch.einsum("bld,dhk->blhk", x, self.key) + self.key_bias
        v = torch.einsum("bld,dhk->blhk", x, self.value) + self.value_bias
        scores = torch.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        return torch.einsum("bhqs,bshk,hkd->bqd", scores.softmax(-1), v, self.out) + self.out_bias
