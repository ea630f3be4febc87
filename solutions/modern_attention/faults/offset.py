"""Relative offset: the known mistakes, in the order in which the matrix is computed."""

import torch

from autograder.faults import Axis, Dictionary, Fault, Step, unchanged

from .context import Context
from .frequencies import exponents, pair_frequencies, units

# fmt: off
# The axes are tables: one fault after the other, without a line for each of its parts.

FORM, ZERO = "relative_offset::test_form", "relative_offset::test_zero"
ROTATION, BLOCKS = "relative_offset::test_rotation", "relative_offset::test_blocks"
FREQUENCY, DIRECTION = "relative_offset::test_frequency", "relative_offset::test_direction"
STEPS, CARRIES = "relative_offset::test_steps", "relative_offset::test_carries"
WHOLE = "relative_offset::test_whole"

# A positive and a negative offset, so that a lost sign shows.
given = Context(d_model=8, base=10000.0)
PROBED = (3, -2)


def start(dtype):
    return {"k": torch.tensor([PROBED], dtype=dtype)}


def probe(submission):
    answers = [submission.relative_offset(k, given.d_model) for k in PROBED]
    answers = [answer[0] if isinstance(answer, tuple) else answer for answer in answers]
    return torch.stack([torch.as_tensor(answer).squeeze() for answer in answers])


def mutate(run):
    """What a submission would define whose matrix is computed as `run` does."""

    def relative_offset(k, d_model):
        with given.exchanged(d_model=d_model):
            return run({"k": torch.tensor([[k]], dtype=torch.float64)})[0, 0].float()

    return {"relative_offset": relative_offset}


HOW_FAR = "By how many positions does your matrix move for k = 0, and for k = -1?"
OFFSETS = Axis("offset", unchanged, (
    Fault("offset_plus_one", "the offset is k + 1", HOW_FAR, ZERO, lambda k: k + 1),
    Fault("offset_minus_one", "the offset is k - 1", HOW_FAR, ZERO, lambda k: k - 1, 2),
    Fault("offset_absolute", "the sign of k is lost", HOW_FAR, STEPS, torch.abs),
    Fault("offset_one", "the offset is 1, whatever k is", HOW_FAR, CARRIES, torch.ones_like),
    Fault("offset_squared", "the offset is k squared", HOW_FAR, CARRIES, torch.square, 3),
))


def _base(name, number, cost=1):
    return Fault(f"base_{name}", f"the base is {name} instead of 10000",
                 "Which number is raised to 2i / d_model?", FREQUENCY, number, cost)


BASE = Axis("base", 10000.0, (
    _base("1000", 1000.0), _base("100000", 100000.0, 2), _base("e", torch.e, 2),
))


def turn(state, offset, exponent, base, unit):
    frequency = pair_frequencies(exponent, base, given.d_model).to(state["k"])
    return {"angle": unit(offset(state["k"])[..., None] * frequency)}  # (n, offsets, pairs)


SIGNS = "Write sin(a + b) and cos(a + b) out: which products are added, which one subtracted?"
# A block is (sine from sine, sine from cosine, cosine from sine, cosine from cosine).
BLOCK = Axis("block", lambda c, s: (c, s, -s, c), (
    Fault("transposed", "the matrix is transposed: it goes back by k where it should go forward",
          SIGNS, DIRECTION, lambda c, s: (c, -s, s, c)),
    Fault("minus_missing", "the minus of the sine is missing", SIGNS, ROTATION,
          lambda c, s: (c, s, s, c)),
    Fault("minus_twice", "both sines have a minus", SIGNS, ROTATION, lambda c, s: (c, -s, -s, c)),
    Fault("sines_missing", "there are cosines on the diagonal, but no sines beside it", SIGNS,
          ROTATION, lambda c, s: (c, 0 * s, 0 * s, c)),
    Fault("sine_cosine_swapped", "sine and cosine have changed places",
          "What must the matrix be for k = 0?", ZERO, lambda c, s: (s, c, -c, s)),
    Fault("sine_cosine_swapped_signs", "sine and cosine have changed places, and the minus is at "
          "the other one", "What must the matrix be for k = 0?", ZERO,
          lambda c, s: (s, -c, c, s), 2),
    Fault("cosines_first", "the block is made for pairs (cosine, sine) without their signs, so "
          "the minus stands on the diagonal", SIGNS, ZERO, lambda c, s: (-c, s, s, c), 2),
))

PARTNERS = "Which two columns of the encoding share a frequency?"


def _interleaved(*block):
    rows = torch.stack([torch.stack(block[:2], -1), torch.stack(block[2:], -1)], -2)
    made = torch.zeros(*rows.shape[:2], given.d_model, given.d_model).to(rows)
    for pair in range(given.d_model // 2):
        two = slice(2 * pair, 2 * pair + 2)
        made[..., two, two] = rows[..., pair, :, :]
    return made


def _halves(*block):
    parts = [torch.diag_embed(part) for part in block]
    return torch.cat([torch.cat(parts[:2], -1), torch.cat(parts[2:], -1)], -2)


LAYOUT = Axis("layout", _interleaved, (
    Fault("layout_halves", "the matrix is made for an encoding with all sines first, then all "
          "cosines", PARTNERS, BLOCKS, _halves),
))


def arrange(state, block, layout):
    angle = state["angle"]
    return {"matrix": layout(*block(angle.cos(), angle.sin()))}


SHAPE = "How many rows and columns has a matrix that takes d_model numbers to d_model numbers?"


def _only_block(m):
    return m[..., :2, :2]


def _all_blocks(m):
    pairs = range(given.d_model // 2)
    return torch.stack([m[..., 2 * i:2 * i + 2, 2 * i:2 * i + 2] for i in pairs], 2)


PRESENTED = Axis("form", unchanged, (
    Fault("first_block_only", "only the block of the first pair is returned", SHAPE, FORM,
          _only_block, 2),
    Fault("blocks_in_a_row", "the blocks are returned side by side, not along the diagonal of one "
          "matrix", SHAPE, FORM, _all_blocks, 2),
    Fault("identity", "the matrix is the identity, whatever k is", HOW_FAR, FREQUENCY,
          lambda m: torch.eye(given.d_model).to(m).expand_as(m), 4),
    Fault("first_block_filled", "only the first pair is filled in, the rest stays zero", SHAPE,
          ZERO, lambda m: torch.nn.functional.pad(_only_block(m), (0, given.d_model - 2) * 2), 2),
))


OFFSET = Dictionary(
    exercise="relative_offset",
    axes=(OFFSETS, exponents(FREQUENCY, "d_model"), BASE, units(FREQUENCY), BLOCK, LAYOUT,
          PRESENTED),
    steps=(
        Step(("offset", "exponent", "base", "unit"), turn),
        Step(("block", "layout"), arrange),
        Step(("form",), lambda state, form: {"output": form(state["matrix"])}),
    ),
    start=start,
    probe=probe,
    mutate=mutate,
    gross=("identity", "first_block_only", "first_block_filled"),
    whole=(WHOLE,),
    tolerance=1e-5,
)
