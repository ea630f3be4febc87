"""Public tests of exercise 2, from basic to subtle."""

import pytest
import torch
from answers import require_turned, turned
from comparison import distance, require_close, require_form, require_small


def waves(*shape):
    """Return numbers between -1 and 1 without a pattern."""
    return (torch.arange(float(torch.Size(shape).numel())) * 1.7 + 0.4).sin().reshape(shape)


@pytest.mark.graded(
    points="2",
    title="The result is one float32 tensor of the shape of x",
    hint="Which axes go in, and do the same ones come out, in the same dtype?",
)
def test_form(submission):
    """Catches: float64 or complex results, axes exchanged, only half of the features.

    Only kind, dtype and shape are looked at. Axes of length 1 are in the contract.
    """
    for shape in ((2, 3, 5, 8), (1, 4, 3, 6), (3, 1, 1, 2)):
        result = submission.apply_rope(waves(*shape), torch.arange(shape[2]))
        require_form(result, shape, f"the result for x of shape {shape}")


@pytest.mark.graded(
    points="1",
    title="A token at position 0 stays as it is",
    hint="By which angle does a pair turn at position 0?",
)
def test_position_zero(submission):
    """Catches: positions counted from 1, sine and cosine exchanged, features in another order.

    At position 0 every angle is 0, whatever the frequencies and pairs.
    """
    x = waves(2, 3, 5, 8)
    require_close(turned(submission, x, [0] * 5), x, 1e-5, "x, turned at position 0,")


@pytest.mark.graded(
    points="2",
    title="Turning changes no length",
    hint="What do the squares of sine and cosine add up to, and where do the minus signs stand?",
)
def test_lengths(submission):
    """Catches: something added in place of a turn, a missing minus, a missing half of the formula.

    A turn keeps the length of every token, by whatever angle and in whatever pairs.
    """
    x = waves(2, 3, 5, 8)
    y = turned(submission, x, [1, 4, 2, 9, 6])
    require_turned(x, y)
    before, after = x.square().sum(-1), y.square().sum(-1)
    gap = distance(after / before, torch.ones_like(before))
    require_small(gap, 2e-5, f"the square of a token's length changes by up to {gap:.1%}")


@pytest.mark.graded(
    points="2",
    title="Scores depend on how far apart two tokens are, not on where they are",
    hint="Turn a query by a and a key by b: by which angle do they differ now?",
)
def test_relative(submission):
    """Catches: positions that are added or multiplied in, angles that are not proportional.

    Each token is turned on its own, by a sequence of length 1. The product of a query at 9
    with a key at 4 must be that of the query at 14 with the key at 9, and so on.
    """
    query, key = waves(1, 2, 1, 8), waves(2, 2, 1, 8)[1:]

    def score(place, other):
        q, k = turned(submission, query, [place]), turned(submission, key, [other])
        require_turned(query, q)
        return (q * k).sum(-1)

    wanted = score(5, 0)
    for shift in (4, 9, 20):
        got = score(5 + shift, shift)
        what = f"the score of positions {5 + shift} and {shift}, against that of 5 and 0,"
        require_close(got, wanted, 4e-5, what)
