"""Public tests of exercise 2, from basic to subtle."""

import pytest
import torch
from comparison import distance, require_close, require_form
from tables import table_of


@pytest.mark.graded(
    points="2",
    title="The encoding is one float32 tensor of shape (max_len, d_model)",
    hint="Which axes does your table have, in which order, and which dtype?",
)
def test_form(submission):
    """Catches: an axis too many, a turned table, a row too many, float64, a NumPy array.

    Only kind, dtype and shape are looked at.
    """
    for max_len, d_model in ((50, 64), (7, 12), (1, 4)):
        table = submission.positional_encoding(max_len, d_model)
        require_form(table, (max_len, d_model), f"positional_encoding({max_len}, {d_model})")


@pytest.mark.graded(
    points="3",
    title="Rows 0, 1 and 7 begin as the handout prints them",
    hint="Work that entry out by hand: which position is it, which pair, sine or cosine?",
)
def test_rows(submission):
    """Catches: whatever changes a value; the other tests say what it is.

    The numbers follow from the formula by a pocket calculator, to four decimals.
    """
    table = table_of(submission, 50, 64)
    printed = {
        0: [0, 1, 0, 1, 0, 1],
        1: [0.8415, 0.5403, 0.6816, 0.7318, 0.5332, 0.8460],
        7: [0.6570, 0.7539, -0.8593, 0.5114, -0.7137, -0.7004],
    }
    for position, row in printed.items():
        wanted = torch.tensor(row, dtype=torch.float32)
        require_close(table[position, :6], wanted, 1.1e-4, f"the beginning of row {position}")


@pytest.mark.graded(
    points="3",
    title="Sine and cosine of a pair belong to one angle: their squares add up to 1",
    hint="Do columns 2 i and 2 i + 1 use the same frequency?",
)
def test_pairs(submission):
    """Catches: odd columns with frequencies of their own, sines everywhere, columns left empty,
    cosines of sines, angles that never meet a sine.

    sin^2 + cos^2 = 1 for every angle, so frequencies, positions and units do not matter.
    Pairs may also stand half a table apart, and row 0 is left out: other tests look there.
    """
    table = table_of(submission, 40, 12)[1:]
    side_by_side = table[:, 0::2] ** 2 + table[:, 1::2] ** 2
    half_apart = table[:, :6] ** 2 + table[:, 6:] ** 2
    ones = torch.ones_like(half_apart)
    nearer = min(side_by_side, half_apart, key=lambda squares: distance(squares, ones))
    require_close(nearer, ones, 2e-3, "sin^2 + cos^2")
