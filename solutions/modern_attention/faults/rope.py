"""Rotary position embedding: the known mistakes, in the order in which x is turned."""

import torch

from autograder.faults import Axis, Dictionary, Fault, Step, unchanged

from .context import Context
from .frequencies import exponents, pair_frequencies, units

# fmt: off
# The axes are tables: one fault after the other, without a line for each of its parts.

FORM, ZERO = "apply_rope::test_form", "apply_rope::test_position_zero"
LENGTHS, PAIRS = "apply_rope::test_lengths", "apply_rope::test_pairs"
RELATIVE = "apply_rope::test_relative"
DIRECTION, FREQUENCY = "apply_rope::test_direction", "apply_rope::test_frequency"
POSITIONS, BASE_GIVEN = "apply_rope::test_positions", "apply_rope::test_base"
HEADS, FAR, WHOLE = "apply_rope::test_heads", "apply_rope::test_far", "apply_rope::test_whole"

# All sizes differ, positions are not in order, and the base is not the usual one.
_random = torch.Generator().manual_seed(29)
X = torch.randn((2, 3, 4, 8), generator=_random, dtype=torch.float64)
given = Context(positions=torch.tensor([5, 2, 9, 4]), base=500.0)


def start(dtype):
    return {"x": X.to(dtype)[None]}


def probe(submission):
    return submission.apply_rope(X.float(), given.positions.clone(), given.base)


def mutate(run):
    """What a submission would define that turns as `run` does."""

    def apply_rope(x, positions, base=10000.0):
        with given.exchanged(positions=positions, base=base):
            return run({"x": x[None]})[0]

    return {"apply_rope": apply_rope}


# --- angles: a way to get positions gives (num_heads or 1, length) -----------------------------

WHERE = "Which number stands for the place of token 0: positions[0], or 0?"


def _plain(heads):
    return given.positions[None]


def _by_rows(heads):
    flat = torch.arange(heads * len(given.positions)).reshape(heads, -1)
    return given.positions[flat // heads]


POSITION = Axis("position", _plain, (
    Fault("positions_counted", "tokens are counted 0, 1, 2, ..., and `positions` is not used",
          WHERE, POSITIONS, lambda h: torch.arange(len(given.positions))[None]),
    Fault("positions_from_one", "each position is one too high", WHERE, ZERO,
          lambda h: _plain(h) + 1),
    Fault("positions_from_first", "positions are counted from the first token of the sequence",
          WHERE, POSITIONS, lambda h: _plain(h) - given.positions[0], 2),
    Fault("positions_reversed", "positions are taken from the last token to the first", WHERE,
          POSITIONS, lambda h: _plain(h).flip(1), 2),
    Fault("positions_negative", "positions are counted backwards, from the highest", WHERE,
          POSITIONS, lambda h: given.positions.max() - _plain(h), 3),
    Fault("positions_log", "the logarithm of the position is taken",
          "By how much does the angle grow from 1 to 2, and by how much from 11 to 12?", RELATIVE,
          lambda h: _plain(h).double().log1p(), 2),
    Fault("positions_plus_head", "the number of the head is added to the position",
          "Which axis of x counts the tokens?", HEADS,
          lambda h: _plain(h) + torch.arange(h)[:, None], 2),
    Fault("length_before_heads", "x is viewed as (batch, length, num_heads, d_k), so tokens get "
          "the positions of other tokens", "Which axis of x counts the tokens, and does a view "
          "move an axis?", POSITIONS, _by_rows, 2),
))

BASE = Axis("base", lambda: given.base, (
    Fault("base_ignored", "the base is always 10000, and the argument is not used",
          "Where does `base` stand in your formula?", BASE_GIVEN, lambda: 10000.0),
))


def turn(state, position, exponent, base, unit):
    x = state["x"]
    frequency = pair_frequencies(exponent, base(), x.shape[-1])
    angle = unit(position(x.shape[2])[..., None].double() * frequency)  # (heads or 1, length, pair)
    angle = angle.expand(len(x), x.shape[2], *angle.shape[1:])
    return {"x": x, "angle": angle.to(x)}


ROUNDED = Axis("precision", unchanged, (
    Fault("angles_in_bfloat16", "the angles have been rounded to bfloat16",
          "How many digits does your dtype have, and how large do angles get?", FAR,
          lambda a: a.bfloat16().to(a), 4),
    Fault("angles_in_half", "the angles have been rounded to half precision",
          "How many digits does your dtype have, and how large do angles get?", FAR,
          lambda a: a.half().to(a), 4),
))

# --- pairs: (the other feature of a pair, which features are the first of their pair, one angle
# for each feature, what becomes of the order) --------------------------------------------------


def _other_neighbour(x):
    return x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


def _other_half(x):
    return x.roll(x.shape[-1] // 2, -1)


def _first_neighbours(size):
    return torch.arange(size) % 2 == 0


def _first_half(size):
    return torch.arange(size) < size // 2


def _each_twice(a):
    return a.repeat_interleave(2, -1)


def _all_twice(a):
    return torch.cat([a, a], -1)


def _to_halves(x):
    return torch.cat([x[..., 0::2], x[..., 1::2]], -1)


def _to_neighbours(x):
    return torch.stack(x.chunk(2, -1), -1).flatten(-2)


PARTNER = "Which feature turns together with feature 0, and where does the result go?"
NEIGHBOURS = (_other_neighbour, _first_neighbours, _each_twice, unchanged)
LAYOUT = Axis("layout", NEIGHBOURS, (
    Fault("half_split", "the pairs are half-split: feature i turns with feature i + d_k / 2 (the "
          "convention of many libraries), not with its neighbour as in the paper and here",
          PARTNER, PAIRS, (_other_half, _first_half, _all_twice, unchanged)),
    Fault("half_split_with_angles_of_neighbours", "two conventions are mixed: pairs are "
          "half-split, but the angles are repeated for neighbours", PARTNER, PAIRS,
          (_other_half, _first_half, _each_twice, unchanged)),
    Fault("neighbours_with_angles_of_halves", "two conventions are mixed: pairs are neighbours, "
          "but the angles are listed twice in a row, as for half-split pairs", PARTNER, LENGTHS,
          (_other_neighbour, _first_neighbours, _all_twice, unchanged)),
    Fault("joined_as_halves", "neighbours are turned, but the results are put together as two "
          "halves", PARTNER, PAIRS, (*NEIGHBOURS[:3], _to_halves)),
    Fault("joined_as_neighbours", "half-split pairs are turned, and the results are put together "
          "as neighbours", PARTNER, PAIRS, (_other_half, _first_half, _all_twice, _to_neighbours)),
))

SIGNS = "Write the turn of one pair as a 2x2 matrix: where is its minus?"
# A way takes (x, the other feature of the pair, -1 for the first of a pair and 1 for the second,
# cosine, sine).
ROTATION = Axis("rotation", lambda x, o, sign, c, s: x * c + sign * o * s, (
    Fault("turned_backwards", "the pairs turn the other way round: the minus stands at the wrong "
          "sine", SIGNS, DIRECTION, lambda x, o, sign, c, s: x * c - sign * o * s),
    Fault("minus_missing", "the minus of the sine is missing", SIGNS, LENGTHS,
          lambda x, o, sign, c, s: x * c + o * s),
    Fault("minus_twice", "both sines have a minus", SIGNS, LENGTHS,
          lambda x, o, sign, c, s: x * c - o * s, 2),
    Fault("first_overwritten", "the second feature of a pair is made from the first one after it "
          "has been turned", "Which x[2 i] stands in the second line of the formula?", LENGTHS,
          lambda x, o, sign, c, s: x * c + torch.where(sign < 0, -o, o * c - x * s) * s),
    Fault("cosines_only", "every feature is multiplied by a cosine, and the other feature of its "
          "pair is missing", SIGNS, LENGTHS, lambda x, o, sign, c, s: x * c),
    Fault("sine_cosine_swapped", "sine and cosine have changed places",
          "What must a pair become at position 0?", ZERO,
          lambda x, o, sign, c, s: x * s + sign * o * c),
    Fault("encoding_added", "the sinusoidal encoding is added to x; nothing is turned",
          "Is anything added in the formula?", LENGTHS,
          lambda x, o, sign, c, s: x + torch.where(sign < 0, s, c)),
    Fault("encoding_multiplied", "x is multiplied by the sinusoidal encoding", SIGNS, LENGTHS,
          lambda x, o, sign, c, s: x * torch.where(sign < 0, s, c), 2),
    Fault("not_turned", "x is returned as it is", "What becomes of (1, 0) at position 1?",
          FREQUENCY, lambda x, o, sign, c, s: x + 0 * s, 4),
))


def rotate(state, precision, layout, rotation):
    x, (other, first, spread, order) = state["x"], layout
    angle = spread(precision(state["angle"]))[:, None]  # (n, 1, heads, length, d_k)
    sign = torch.where(first(x.shape[-1]), -1.0, 1.0).to(x)
    return {"turned": order(rotation(x, other(x), sign, angle.cos(), angle.sin())), "x": x}


FEATURES = "Do all features of x come out, and all of them turned?"
FINISH = Axis("finish", lambda y, x: y, (
    Fault("second_half_as_it_was", "only the first half of the features is turned", FEATURES,
          FREQUENCY, lambda y, x: torch.cat([y.chunk(2, -1)[0], x.chunk(2, -1)[1]], -1), 3),
    Fault("added_to_x", "the turned x is added to x", "Is anything added in the formula?", LENGTHS,
          lambda y, x: x + y, 3),
    Fault("heads_and_length_exchanged", "heads and length are exchanged in the result",
          "In which order do the axes of x come?", FORM, lambda y, x: y.transpose(2, 3), 2),
    Fault("heads_joined", "the heads are joined: (batch, length, num_heads * d_k)",
          "In which order do the axes of x come?", FORM,
          lambda y, x: y.transpose(2, 3).flatten(3), 3),
))


ROPE = Dictionary(
    exercise="apply_rope",
    axes=(POSITION, exponents(FREQUENCY, "d_k"), BASE, units(FREQUENCY), ROUNDED, LAYOUT, ROTATION,
          FINISH),
    steps=(
        Step(("position", "exponent", "base", "unit"), turn),
        Step(("precision", "layout", "rotation"), rotate),
        Step(("finish",), lambda state, finish: {"output": finish(state["turned"], state["x"])}),
    ),
    start=start,
    probe=probe,
    mutate=mutate,
    gross=("not_turned", "encoding_added", "encoding_multiplied"),
    slight=("angles_in_bfloat16", "angles_in_half"),
    whole=(WHOLE,),
)
