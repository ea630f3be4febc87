"""Multi-head attention: several attentions at once, each in its own small subspace."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """Let every token of a sequence look at every token, through several heads at a time.

    Four projections, each `nn.Linear(d_model, d_model)` with bias:
    `Wq`, `Wk` and `Wv` make queries, keys and values, `Wo` mixes what the heads found.
    Head `k` owns the features `k * d_k` up to `(k + 1) * d_k` of queries, keys, values
    and of the joined result.

    Args:
        d_model: number of features of a token.
        num_heads: number of heads; `d_k = d_model / num_heads` features belong to each.

    Raises:
        ValueError: if `d_model` cannot be divided evenly among the heads.

    Source: Vaswani et al. (2017), "Attention Is All You Need", section 3.2.2.
    """

    def __init__(self, d_model: int, num_heads: int) -> None:
        # Given. Keep the four names: the tests put their own weights into them.
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model = {d_model} cannot be split into {num_heads} equal heads")
        self.h = num_heads
        self.d_k = d_model // num_heads
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, d_model)
        self.Wv = nn.Linear(d_model, d_model)
        self.Wo = nn.Linear(d_model, d_model)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Mix the tokens of each sequence: per head, softmax(Q K^T / sqrt(d_k)) V.

        Self-attention: queries, keys and values all come from `x`. The softmax runs over
        the keys, so that the weights one token gives to all tokens sum to one. The heads
        are joined feature after feature, head 0 first, and pass through `Wo`.

        Scores may be large: in the thousands they must not turn into inf or nan.

        Not done here: no mask (every token sees every token, itself included, and a token
        of zeros is a token like any other), no dropout, no residual connection, no
        normalisation, no ready-made attention from PyTorch. `x` is left as it is.

        Args:
            x: (batch, length, d_model), float32. Any batch and any length from 1 on.

        Returns:
            (batch, length, d_model), float32: one tensor, not a tuple. Gradients flow
            back to `x` and to all four projections.

        Raises:
            Nothing of its own.

        Source: Vaswani et al. (2017), sections 3.2.1 and 3.2.2, equation (1).
        """
        raise NotImplementedError("attention / multi_head_attention")
