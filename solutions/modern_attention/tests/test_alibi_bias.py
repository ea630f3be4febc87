"""Hidden tests of exercise 3, from basic to subtle: each about one mechanism.

Above the diagonal nothing is looked at.
"""

import pytest
import torch
from answers import bias_of, slopes_of
from comparison import distance, require, require_close, require_small
from oracles import linear_bias, slopes


def miss(got, wanted):
    """Return the largest error of sorted slopes, in parts of what is wanted."""
    wanted = torch.tensor(sorted(wanted))
    return distance(got.abs().sort().values / wanted, torch.ones(len(wanted)))


@pytest.mark.graded(
    points="2",
    title="The further away a key, the lower its bias",
    hint="Should softmax give a far token more weight, or less?",
)
def test_sign(submission):
    """Catches: a positive bias, rows and columns exchanged. Only the sign is looked at."""
    bias = bias_of(submission, 8, 5)
    steps = bias[:, 4, 0] - bias[:, 4, 3]
    require(bool((steps < 0).all()), "a far key does not get a lower bias than a near one")


@pytest.mark.graded(
    points="2",
    title="2, 4 and 16 heads have the slopes of their own geometric sequence",
    hint="What is the ratio for n heads, so that the last slope is 1/256?",
)
def test_powers(submission):
    """Catches: slopes that are right for 8 heads only. Sign and order do not matter."""
    for num_heads in (2, 4, 16):
        gap = miss(slopes_of(submission, num_heads), slopes(num_heads))
        require_small(gap, 1e-5, f"a slope of {num_heads} heads is off by {gap:.0%}")


@pytest.mark.graded(
    points="2.5",
    title="Numbers of heads that are no powers of two get slopes from two sequences",
    hint="Six heads: which four slopes come from the lower power, and which two from the next?",
)
def test_other_counts(submission):
    """Catches: one sequence for all numbers of heads, the wrong half of the finer sequence.

    Sign and order do not matter.
    """
    for num_heads in (3, 6, 12, 7):
        gap = miss(slopes_of(submission, num_heads), slopes(num_heads))
        require_small(gap, 1e-5, f"a slope of {num_heads} heads is off by {gap:.0%}")


@pytest.mark.graded(
    points="1",
    title="Heads stand in the order of the paper",
    hint="Which head is the steepest, and where do the heads go that fill up?",
)
def test_order(submission):
    """Catches: slopes from flat to steep, slopes that are sorted.

    Eight heads must get flatter from one to the next. Other numbers are looked at where the
    slopes themselves are right; else the tests above charge it.
    """
    eight = slopes_of(submission, 8).abs()
    require(bool((eight[1:] < eight[:-1]).all()), "eight heads do not get flatter, one by one")
    for num_heads in (8, 6, 12):
        try:
            got = slopes_of(submission, num_heads).abs()
        except Exception:
            if num_heads == 8:
                raise
            continue  # numbers of heads that are refused are charged above, too
        wanted = torch.tensor(slopes(num_heads))
        if miss(got, slopes(num_heads)) < 1e-3:
            require_close(got, wanted, 1e-5, f"the slope of each of {num_heads} heads")


@pytest.mark.graded(
    points="0.5",
    title="Nothing in the bias can be trained",
    hint="What does ALiBi learn about distances?",
)
def test_fixed(submission):
    """Catches: slopes in an nn.Parameter. A fixed table asks for no gradient."""
    result = submission.alibi_bias(4, 3)
    parts = result if isinstance(result, (tuple, list)) else [result]
    trained = [part for part in parts if isinstance(part, torch.Tensor) and part.requires_grad]
    require(not trained, "the bias asks for gradients: it would be trained")


@pytest.mark.graded(
    points="0.5",
    title="Every call computes the bias that it is asked for",
    hint="Does your function keep something from an earlier call?",
)
def test_second_call(submission):
    """Catches: a table remembered from another call, numbers at random."""
    first = bias_of(submission, 4, 5).clone()
    other = bias_of(submission, 8, 5)
    require(len(other) == 8, "a second call gives another number of heads than asked for")
    require_close(bias_of(submission, 4, 5), first, 1e-5, "the same call, made again,")


@pytest.mark.graded(
    points="1",
    title="The bias for a short sequence is the corner of that for a long one",
    hint="Where does length come into a number of the table?",
)
def test_corner(submission):
    """Catches: distances divided by the length, counted from the end, or cut off.

    Both tables are the student's. Lengths of 1 are in the contract. Where near distances cost
    evenly, far ones have to.
    """
    long = bias_of(submission, 4, 40)
    require(float(long.abs().max()) > 1e-3, "the bias is zero everywhere")
    for length in (1, 7):
        short = bias_of(submission, 4, length)
        require_close(long[:, :length, :length], short, 2e-5, "the corner of the longer table")
    step, ones = long[:, 1, 0], torch.ones(4)
    if float(step.abs().min()) > 1e-6 and distance(long[:, 39, 0] / step / 39, ones) < 1e-5:
        far = bias_of(submission, 4, 300)[:, 299, 0] / step / 299
        require_close(
            far, ones, 1e-5, "the cost of each of 299 steps, in parts of that of the first,"
        )


@pytest.mark.graded(
    points="1.5",
    title="Every number on and below the diagonal is right",
    hint="Take one head and one query: which number of its row is the first that is wrong?",
)
def test_whole(submission):
    """Catches: whatever changes a number; the tests above say what it is."""
    for num_heads, length in ((8, 5), (6, 7), (1, 4), (20, 3)):
        wanted = linear_bias(num_heads, length).float()
        what = f"alibi_bias({num_heads}, {length})"
        got = bias_of(submission, num_heads, length, is_strict=True)
        require_close(got, wanted, 2e-5, what)
