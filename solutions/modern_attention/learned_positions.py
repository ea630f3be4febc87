"""Learned positions: a row for every place, trained like everything else."""

import torch
from torch import nn


class LearnedPositions(nn.Module):
    """Add a trained vector to each token, one for each place in the sequence.

    The table has `max_len` rows of `d_model` numbers and all of them can be trained: they are
    the only parameters here. Keep them in one `nn.Parameter` or one `nn.Embedding`, under any
    name, with any initial values.

    Not done here: no token embedding, no scaling, no normalisation, no dropout.

    Args:
        max_len: number of places, and so the longest sequence.
        d_model: number of features of a token.

    Source: Gehring et al. (2017), "Convolutional Sequence to Sequence Learning", section 3.1;
    Vaswani et al. (2017), section 3.5 and table 3 row (E); used by BERT and GPT-2.
    """

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        # BEGIN SOLUTION
        self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
        # END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add row i of the table to the token at place i, in every sequence.

        Unlike a formula, a table has nothing to say about places that it was not trained for:
        a longer sequence is an error.

        Args:
            x: (batch, length, d_model), float32: tokens, already embedded. Any batch, any
                length from 1 to `max_len`. Left as it is.

        Returns:
            (batch, length, d_model), float32: one tensor. Gradients flow to `x` and to the
            rows in use.

        Raises:
            ValueError or IndexError: if a sequence is longer than `max_len`.
        """
        # BEGIN SOLUTION
        length, max_len = x.shape[1], self.table.shape[0]
        if length > max_len:
            raise ValueError(f"{length} tokens do not fit: only {max_len} places were trained")
        return x + self.table[:length]  # (batch, length, d_model)
        # END SOLUTION
