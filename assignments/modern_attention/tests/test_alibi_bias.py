"""Public tests of exercise 3, from basic to subtle. Above the diagonal nothing is looked at."""

import pytest
import torch
from answers import bias_of, slopes_of
from comparison import require, require_close, require_form, require_small


@pytest.mark.graded(
    points="1",
    title="The bias is one float32 tensor of shape (num_heads, length, length)",
    hint="How many scores does a head have for a sequence, and how many heads are there?",
)
def test_form(submission):
    """Catches: one row for all queries, heads last, a batch axis, float64, a NumPy array.

    Only kind, dtype and shape are looked at.
    """
    for num_heads, length in ((8, 5), (4, 7), (2, 3)):
        bias = submission.alibi_bias(num_heads, length)
        what = f"alibi_bias({num_heads}, {length})"
        require_form(bias, (num_heads, length, length), what)


@pytest.mark.graded(
    points="1",
    title="A token's bias towards itself is 0",
    hint="How far away is a token from itself?",
)
def test_own(submission):
    """Catches: a bias by the key's position in place of the distance, distances from 1.

    The diagonal is 0 for any slopes and either sign.
    """
    most = float(bias_of(submission, 8, 6, is_strict=True).diagonal(dim1=1, dim2=2).abs().max())
    require_small(most, 1e-5, f"on the diagonal there are numbers up to {most:.3g}")


@pytest.mark.graded(
    points="2",
    title="Within a head, each step into the past changes the bias by the same amount",
    hint="What is linear in attention with linear biases?",
)
def test_lines(submission):
    """Catches: squares, roots or logarithms of the distance, a limit, rows that are all alike.

    Steps are compared with each other only, so slopes, sign and starting point do not matter.
    """
    bias = bias_of(submission, 4, 6)
    steps = bias[:, :, 1:] - bias[:, :, :-1]  # (head, query, key): from one key to the next
    rows, columns = torch.tril_indices(6, 5, offset=-1)
    steps = steps[:, rows, columns]  # (head, step)
    size = float(steps.abs().max())
    require(size > 1e-6, "all keys of the past have the same bias")
    gaps = (steps - steps[:, :1]).abs().amax(-1) / steps.abs().amax(-1).clamp(min=1e-6)
    gap = float(gaps.max())
    require_small(gap, 1e-5, f"the steps within one head differ by {gap:.0%}")


@pytest.mark.graded(
    points="1",
    title="Eight heads have the slopes 1/2, 1/4, ..., 1/256",
    hint="Which is the first of them, and how does one follow from the one before?",
)
def test_eight_heads(submission):
    """Catches: another first slope, another ratio. Sign and order are left to other tests."""
    slopes = slopes_of(submission, 8).abs().sort(descending=True).values
    wanted = torch.tensor([1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256])
    require_close(slopes, wanted, 5e-6, "the sorted slopes")
