"""Hidden tests of exercise 2, from basic to subtle: each about one mechanism."""

import math

import pytest
import torch
from answers import require_turned, turned
from comparison import (
    distance,
    require,
    require_close,
    require_large,
    require_small,
    tensor_of,
)
from numbers_from_seed import normal
from oracles import frequency, rotated


def one_hot(feature, d_k):
    """Return a single token (1, 1, 1, d_k) that is 1 in one feature."""
    return torch.eye(d_k)[feature].reshape(1, 1, 1, d_k)


@pytest.mark.graded(
    points="1.5",
    title="Pairs turn from the first feature towards the second",
    hint="Where does (1, 0) go when it turns by a quarter: to (0, 1) or to (0, -1)?",
)
def test_direction(submission):
    """Catches: the turn the other way round. With d_k = 2 there is one pair, one frequency."""
    first = turned(submission, one_hot(0, 2), [1]).flatten()
    second = turned(submission, one_hot(1, 2), [1]).flatten()
    towards = float(first[1] - second[0])
    require(towards > -0.5, "at position 1 the pair turns the other way round")
    require(towards > 0.5, "at position 1 the pair does not turn")


@pytest.mark.graded(
    points="2",
    title="The pairs are neighbours: features 2 i and 2 i + 1",
    hint="Which feature is the partner of feature 0 in your code: 1, or d_k / 2?",
)
def test_pairs(submission):
    """Catches: half-split pairs, results that are put together in another order.

    Only one pair of a token is not zero; no other feature may receive anything of it.
    """
    for d_k in (6, 8):
        for feature in range(d_k):
            y = turned(submission, one_hot(feature, d_k), [1]).flatten()
            if feature < 2:
                require_turned(one_hot(feature, d_k).flatten(), y)
            first = feature // 2 * 2
            y[first : first + 2] = 0
            where = [int(n) for n in (y.abs() > 1e-3).nonzero()]
            require_small(
                float(y.abs().max()),
                1e-5,
                f"d_k = {d_k}: at position 1, some of feature {feature} arrives in {where}",
            )


@pytest.mark.graded(
    points="2",
    title="Pair i turns by base^(-2 i / d_k) from one position to the next",
    hint="How does the exponent grow from one pair to the next, and what is it for pair 0?",
)
def test_frequency(submission):
    """Catches: another exponent, angles in degrees, frequencies upside down.

    What is left of a feature in its own place is a cosine, whichever way it turns. The position
    is chosen so that the angle is about 1.5. Pairs may also be half of d_k apart.
    """
    gaps = []
    for d_k, pair in ((4, 0), (4, 1), (6, 1), (8, 1)):
        angle = frequency(pair, d_k)
        place = round(1.5 / angle)
        left = [
            float(turned(submission, one_hot(feature, d_k), [place]).flatten()[feature])
            for feature in (2 * pair, 2 * pair + 1, pair, pair + d_k // 2)
        ]
        wanted = math.cos(place * angle)
        gap = min(max(abs(c - wanted) for c in left[start : start + 2]) for start in (0, 2))
        gaps.append((gap, f"d_k = {d_k}: pair {pair} does not turn by {angle:.4g} per position"))
    gap, message = max(gaps)
    require_small(gap, 2e-5, message)


@pytest.mark.graded(
    points="2",
    title="Each token is turned by its own entry of positions",
    hint="Do your angles come from `positions`, or from counting the tokens?",
)
def test_positions(submission):
    """Catches: places counted from 0 in place of `positions`, positions of other tokens.

    A sequence is turned at once and token by token; both must agree, whatever a turn does.
    """
    x, positions = normal("positions", 2, 3, 4, 6), [5, 2, 9, 2]
    together = turned(submission, x, positions)
    require_turned(x, together)
    for token, position in enumerate(positions):
        alone = turned(submission, x[:, :, token : token + 1], [position])[:, :, 0]
        what = f"token {token} of a sequence at positions {positions}"
        require_close(together[:, :, token], alone, 2e-5, what)


@pytest.mark.graded(
    points="1",
    title="The base is the one that is given, and 10000 otherwise",
    hint="Where does `base` stand in your formula?",
)
def test_base(submission):
    """Catches: 10000 written down, another default. Only differences are looked at."""
    x, positions = normal("base", 2, 3, 4, 6), [3, 11, 0, 7]
    usual = turned(submission, x, positions)
    require_close(turned(submission, x, positions, 10000.0), usual, 1e-5, "with a base of 10000")
    other = distance(turned(submission, x, positions, 30.0), usual)
    require_large(other, 0.1, "a base of 30 gives what the usual base gives")


@pytest.mark.graded(
    points="0.5",
    title="All heads and all sequences are turned alike",
    hint="Which axis of x counts the tokens?",
)
def test_heads(submission):
    """Catches: heads or sequences taken for tokens. The same tokens stand in all of them."""
    x = normal("heads", 1, 1, 4, 6).repeat(2, 3, 1, 1)
    y = turned(submission, x, [1, 6, 3, 8])
    require_turned(x, y)
    require_close(y, y[:1, :1].expand_as(y), 2e-5, "the same tokens in another head or sequence")


@pytest.mark.graded(
    points="1",
    title="Gradients flow back to x",
    hint="Does every step from x to the result use tensors of PyTorch, x itself among them?",
)
def test_gradients(submission):
    """Catches: detours over NumPy or lists, `detach`, `no_grad`. Every token must get some."""
    x, positions = normal("gradients", 2, 3, 4, 6), torch.tensor([1, 6, 3, 8])
    given = x.clone()
    with torch.no_grad():
        submission.apply_rope(given, positions)
    if not torch.equal(given, x):
        return  # a leaf that is written into takes no gradient; another test charges it
    x.requires_grad_()
    y = tensor_of(submission.apply_rope(x, positions), tuple(x.shape))
    require(y.requires_grad, "the result knows nothing of x: no gradient can come back")
    (y * normal("weights of gradients", *x.shape)).sum().backward()
    arrived = 0.0 if x.grad is None else float(x.grad.abs().amax(-1).min())
    require_large(arrived, 1e-2, "a token of x gets no gradient")


@pytest.mark.graded(
    points="0.5",
    title="The caller's x and positions are left as they were",
    hint="Which operation with an underscore or an assignment writes into x?",
)
def test_inputs_unchanged(submission):
    """Catches: turning in place. Right code only reads its arguments."""
    x, positions = normal("unchanged", 2, 3, 4, 6), torch.tensor([2, 7, 1, 8])
    given, places = x.clone(), positions.clone()
    with torch.no_grad():
        submission.apply_rope(given, places)
    require(torch.equal(given, x), "after the call, x is no longer what it was before")
    require(torch.equal(places, positions), "after the call, positions have changed")


@pytest.mark.graded(
    points="0.5",
    title="Every call computes the turn that it is asked for",
    hint="Does your function keep something from an earlier call?",
)
def test_second_call(submission):
    """Catches: angles remembered by shape or by some of the positions, numbers at random.

    Lists of positions that begin and end alike are told apart, unless the second token is
    turned wrongly in the first place.
    """
    x = normal("second call", 2, 3, 4, 6)
    first, second = [3, 0, 5, 9], [1, 2, 8, 4]
    before = turned(submission, x, first)
    turned(submission, x, second)
    require_close(turned(submission, x, first), before, 1e-5, "the same call, made again,")
    rows = [turned(submission, x[:, :, n : n + 1], [second[n]]) for n in range(4)]
    again = [turned(submission, x[:, :, n : n + 1], [first[n]]) for n in range(4)]
    moved = min(distance(one, other) for one, other in zip(rows, again, strict=True))
    require_large(moved, 1e-2, "a token at another position gets the answer of the call before")
    token, alike = x[:, :, 1:2], [3, 5, 0, 9]  # as `first`, but for the middle
    if distance(before[:, :, 1:2], turned(submission, token, [0])) < 1e-5:
        got, wanted = turned(submission, x, alike)[:, :, 1:2], turned(submission, token, [5])
        require_close(got, wanted, 1e-5, "the second token of other positions, same at the ends,")


@pytest.mark.graded(
    points="1",
    title="Positions in the thousands are turned exactly",
    hint="In which dtype are your angles, and how many digits does it have?",
)
def test_far(submission):
    """Catches: angles in half precision, positions that are cut off or start again.

    With d_k = 2 every angle is the position itself, which float32 holds exactly.
    """
    for place in (2731, 3999, 5001):
        left = turned(submission, one_hot(0, 2), [place]).flatten()[0]
        gap = abs(float(left) - math.cos(place))
        require_small(gap, 1e-5, "at a position in the thousands the angle is wrong")


@pytest.mark.graded(
    points="3",
    title="The result is each pair, turned by its angle",
    hint="Turn one pair of one token by hand: at which step do your numbers part?",
)
def test_whole(submission):
    """Catches: whatever changes a number; the tests above say what it is.

    The oracle multiplies complex numbers in float64. Honest float32 code stays within 2e-5.
    """
    for shape, positions, base in (
        ((2, 3, 4, 6), [4, 0, 11, 7], ()),
        ((3, 2, 5, 8), [1, 2, 3, 4, 19], (500.0,)),
        ((2, 5, 3, 12), [23, 22, 6], ()),
    ):
        x = normal(f"whole {shape}", *shape)
        wanted = rotated(x, positions, *base).float()
        require_close(turned(submission, x, positions, *base), wanted, 1e-4, "the result")
