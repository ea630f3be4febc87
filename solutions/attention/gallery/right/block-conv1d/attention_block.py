import torch.nn.functional as F
from torch import nn

from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    """Convolutions of width 1 as projections."""

    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.embedding = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.heads = num_heads
        self.qkv = nn.Conv1d(d_model, 3 * d_model, kernel_size=1)
        self.out = nn.Conv1d(d_model, d_model, kernel_size=1)

    def forward(self, token_ids):
        x = self.embedding(token_ids).transpose(1, 2)  # (batch, d_model, length)
        q, k, v = self.qkv(x).chunk(3, dim=1)
        q, k, v = (t.unflatten(1, (self.heads, -1)).mT for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.mT.flatten(1, 2)).transpose(1, 2)
