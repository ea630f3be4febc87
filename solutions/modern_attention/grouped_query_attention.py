"""Grouped-query attention: several query heads share one head of keys and values."""

import math

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    """Attend with `num_heads` heads of queries and only `num_kv_heads` heads of keys and values.

    `Wq` and `Wo` are as in multi-head attention. `Wk` and `Wv` make `num_kv_heads * d_k`
    features, `d_k = d_model / num_heads`. Query head `h` owns the features `h d_k` up to
    `(h + 1) d_k` of queries and of the joined result, key-value head `n` the features `n d_k`
    up to `(n + 1) d_k` of keys and of values.

    Neighbouring query heads form a group: with `g = num_heads / num_kv_heads`, the heads 0 up to
    `g - 1` use key-value head 0, the next `g` heads use head 1, and so on.

    With as many key-value heads as heads this is multi-head attention, with a single one it is
    multi-query attention.

    Args:
        d_model: number of features of a token.
        num_heads: number of heads of queries.
        num_kv_heads: number of heads of keys and values.

    Raises:
        ValueError: if `num_heads` does not divide `d_model`, or `num_kv_heads` not `num_heads`.

    Source: Ainslie et al. (2023), "GQA: Training Generalized Multi-Query Transformer Models from
    Multi-Head Checkpoints", section 2.2; Shazeer (2019), "Fast Transformer Decoding: One
    Write-Head is All You Need", for a single key-value head.
    """

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int) -> None:
        # Given. Keep the four names: the tests put their own weights into them.
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model = {d_model} cannot be split into {num_heads} equal heads")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {num_kv_heads} key-value heads")
        self.h = num_heads
        self.h_kv = num_kv_heads
        self.d_k = d_model // num_heads
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, num_kv_heads * self.d_k)
        self.Wv = nn.Linear(d_model, num_kv_heads * self.d_k)
        self.Wo = nn.Linear(d_model, d_model)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Mix the tokens of each sequence: per head, softmax(Q K^T / sqrt(d_k)) V.

        The softmax runs over the keys that the token may look at. Keys that it may not look at
        get no weight at all, and the others' weights sum to one.

        Scores may be large: in the thousands they must not turn into inf or nan.

        Not done here: no mask but the one that is given, no positions, no dropout, no residual
        connection, no normalisation, no ready-made attention from PyTorch. `x` and `mask` are
        left as they are.

        Args:
            x: (batch, length, d_model), float32. Any batch and any length from 1 on.
            mask: (length, length), bool: row for the token that asks, column for the token that
                is looked at. True: it MAY be looked at. So `torch.ones(length, length,
                dtype=torch.bool).tril()` is the causal mask. Every row has a True in it. None:
                every token may look at every token. (`F.scaled_dot_product_attention` reads a
                mask the same way, `nn.MultiheadAttention` the other way round.)

        Returns:
            (batch, length, d_model), float32: one tensor, not a tuple. Gradients flow back to
            `x` and to all four projections.

        Raises:
            Nothing of its own.

        Source: Ainslie et al. (2023), section 2.2; Vaswani et al. (2017), equation (1).
        """
        # BEGIN SOLUTION
        batch, length, d_model = x.shape
        group = self.h // self.h_kv
        queries = self.Wq(x).view(batch, length, self.h_kv, group, self.d_k)
        keys = self.Wk(x).view(batch, length, self.h_kv, self.d_k)
        values = self.Wv(x).view(batch, length, self.h_kv, self.d_k)

        scores = torch.einsum("bingd,bjnd->bngij", queries, keys) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = scores.softmax(dim=-1)  # (batch, num_kv_heads, group, length, length)

        joined = torch.einsum("bngij,bjnd->bingd", weights, values)
        return self.Wo(joined.reshape(batch, length, d_model))  # (batch, length, d_model)
        # END SOLUTION
