"""Attention block: from token ids to vectors that know their place and their neighbours."""

import torch
from multi_head_attention import MultiHeadAttention
from positional_encoding import EmbeddingWithPE
from torch import nn


class AttentionBlock(nn.Module):
    """Embed tokens, add where they stand, then let them look at each other.

    The first layers of a Transformer encoder, in this order: token embedding, positional
    encoding (added once, along the length, unscaled), multi-head self-attention.
    `nn.MultiheadAttention(d_model, num_heads, batch_first=True)` is welcome here; so is
    your own `MultiHeadAttention`. Name your attributes as you like.

    Not done here: no factor sqrt(d_model) on the embedding, no mask, no dropout, no
    residual connection, no normalisation, no feed-forward layer.

    Args:
        vocab_size: number of different tokens.
        d_model: number of features of a token, even and divisible by `num_heads`.
        num_heads: number of attention heads.
        max_len: longest sequence the block accepts.

    Source: Vaswani et al. (2017), "Attention Is All You Need", section 3 and figure 1.
    """

    def __init__(self, vocab_size: int, d_model: int, num_heads: int, max_len: int = 512) -> None:
        super().__init__()
        raise NotImplementedError("attention / attention_block")

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        """Map token ids to attended vectors.

        Args:
            token_ids: (batch, length), int64, each at least 0 and below `vocab_size`.
                Any batch, any length from 1 to `max_len`.

        Returns:
            (batch, length, d_model), float32: one tensor, not a tuple.

        Raises:
            ValueError or IndexError: if a sequence is longer than `max_len`.

        Source: Vaswani et al. (2017), sections 3.2.2, 3.4 and 3.5.
        """
        raise NotImplementedError("attention / attention_block")
