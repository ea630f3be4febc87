import math

import torch
from torch import nn


def positional_encoding(max_len, d_model):
    pos = torch.arange(max_len, dtype=torch.float32)[:, None]
    freq = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float32) / d_model)
    pe = torch.zeros(max_len, d_model)
    pe[:, 0::2] = torch.sin(pos * freq)
    # sin^2 + cos^2 = 1, and cos is negative between pi/2 and 3 pi/2
    turn = torch.remainder(pos * freq, 2 * math.pi)
    sign = torch.where((turn > math.pi / 2) & (turn < 3 * math.pi / 2), -1.0, 1.0)
    pe[:, 1::2] = sign * torch.sqrt(1 - pe[:, 0::2] ** 2)
    return pe


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
