"""Sinusoidal positional encoding: a fixed pattern that tells a token where it stands."""

import math

import torch
from torch import nn


@torch.inference_mode()
def positional_encoding(max_len: int, d_model: int) -> torch.Tensor:
    """Tabulate one row per position, made of sines and cosines from fast to slow.

    With `pos` counted from 0 and `i` from 0 to `d_model / 2 - 1`:

        PE[pos, 2 i]     = sin(pos / 10000^(2 i / d_model))
        PE[pos, 2 i + 1] = cos(pos / 10000^(2 i / d_model))

    Both columns of a pair share one frequency, and sine and cosine alternate. A row
    depends on its position only, so a longer table starts with the shorter one.

    Not done here: nothing is learned, nothing is added to a token, nothing is rounded.

    Args:
        max_len: number of positions, 0 up to `max_len - 1`.
        d_model: number of features, even.

    Returns:
        (max_len, d_model), float32: a plain tensor without gradient.

    Raises:
        Nothing of its own; odd `d_model` is outside the contract.

    Source: Vaswani et al. (2017), "Attention Is All You Need", section 3.5.
    """
    # BEGIN SOLUTION
    position = torch.arange(max_len, dtype=torch.float32).unsqueeze(1)  # (max_len, 1)
    even = torch.arange(0, d_model, 2, dtype=torch.float32)  # (d_model / 2,): the exponents 2 i
    frequency = torch.exp(-math.log(10000.0) * even / d_model)  # (d_model / 2,)
    angle = position * frequency  # (max_len, d_model / 2)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)  # (max_len, d_model)
    # END SOLUTION


class EmbeddingWithPE(nn.Module):
    """Turn token ids into vectors that know both what they are and where they stand.

    Given: nothing to write here. `emb` is looked up, the first `length` rows of `pe` are
    added, once and unscaled. `pe` is a buffer: it moves and is saved with the module but
    is no parameter.

    Args:
        vocab_size: number of different tokens.
        d_model: number of features of a token, even.
        max_len: longest sequence that can be embedded.

    Source: Vaswani et al. (2017), sections 3.4 (without its factor sqrt(d_model)) and 3.5.
    """

    def __init__(self, vocab_size: int, d_model: int, max_len: int = 512) -> None:
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pe", positional_encoding(max_len, d_model))

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        """Embed a batch of sequences: embedding of the token plus encoding of its place.

        Args:
            token_ids: (batch, length), int64, each at least 0 and below `vocab_size`.

        Returns:
            (batch, length, d_model), float32.

        Raises:
            ValueError: if a sequence is longer than `max_len`.
        """
        length, max_len = token_ids.shape[1], self.pe.shape[0]
        if length > max_len:
            raise ValueError(f"{length} tokens do not fit: the table has {max_len} positions")
        return self.emb(token_ids) + self.pe[:length]  # (batch, length, d_model)
