"""Relative offset: the one matrix that moves every sinusoidal position by the same distance."""

import torch


def relative_offset(k: int, d_model: int) -> torch.Tensor:
    """Build the matrix M that carries the encoding of any position to that of `k` positions on.

    With the sinusoidal encoding `PE`, sines and cosines taking turns:

        PE[pos, 2 i]     = sin(pos / 10000^(2 i / d_model))
        PE[pos, 2 i + 1] = cos(pos / 10000^(2 i / d_model))

    M does, for every `pos`, and depends on `k` alone:

        M @ PE[pos] = PE[pos + k]

    A row of the encoding stands as a column here: for whole tables, `pe[k:] = pe[:-k] @ M.T`.
    A negative `k` goes back, and 0 stays.

    Not done here: no fit to a table. Slow pairs hardly move in a table of ordinary length, so
    what is fitted to it does not carry further.

    Args:
        k: how many positions to move on; any integer.
        d_model: number of features of an encoding, even.

    Returns:
        (d_model, d_model), float32: row for the feature that is made, column for the feature
        that it is made from.

    Raises:
        Nothing of its own; odd `d_model` is outside the contract.

    Source: Vaswani et al. (2017), "Attention Is All You Need", section 3.5: "for any fixed
    offset k, PE(pos+k) can be represented as a linear function of PE(pos)".
    """
    # BEGIN SOLUTION
    even = torch.arange(0, d_model, 2, dtype=torch.float64)  # (d_model / 2,): the exponents 2 i
    angle = k * 10000.0 ** (-even / d_model)  # (d_model / 2,): what each pair turns by
    sines, cosines = torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)
    matrix = torch.zeros(d_model, d_model)
    # sin(a + b) = sin a cos b + cos a sin b,  cos(a + b) = cos a cos b - sin a sin b
    matrix[sines, sines] = matrix[cosines, cosines] = angle.cos().float()
    matrix[sines, cosines] = angle.sin().float()
    matrix[cosines, sines] = -angle.sin().float()
    return matrix  # (d_model, d_model)
    # END SOLUTION
