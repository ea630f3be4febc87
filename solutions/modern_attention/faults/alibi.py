"""Attention with linear biases: the known mistakes.

What stands above the diagonal is free, so answers hold only what is on and below it.
"""

import math

import torch

from autograder.faults import Axis, Dictionary, Fault, Step

from .context import Context

# fmt: off
# The axes are tables: one fault after the other, without a line for each of its parts.

FORM, OWN = "alibi_bias::test_form", "alibi_bias::test_own"
LINES, EIGHT = "alibi_bias::test_lines", "alibi_bias::test_eight_heads"
SIGN, POWERS = "alibi_bias::test_sign", "alibi_bias::test_powers"
OTHERS, ORDER = "alibi_bias::test_other_counts", "alibi_bias::test_order"
CORNER, WHOLE = "alibi_bias::test_corner", "alibi_bias::test_whole"

# No power of two; eight heads, for which many a wrong formula is right; and a lower power.
given = Context(counts=(6, 8, 4), length=5)


def start(dtype):
    return {"place": torch.arange(given.length, dtype=dtype)[None]}


def _seen(length):
    return torch.tril_indices(length, length).unbind()


def probe(submission):
    rows, columns = _seen(given.length)
    answers = []
    for heads in given.counts:
        answer = submission.alibi_bias(heads, given.length)
        answer = torch.as_tensor(answer[0] if isinstance(answer, tuple) else answer).squeeze()
        if answer.shape != (heads, given.length, given.length):
            return answer
        answers.append(answer)
    below = torch.cat([answer[:, rows, columns] for answer in answers])
    above = torch.cat([answer.mT[:, rows, columns] for answer in answers])
    is_above = bool((below == 0).all()) and bool((above != 0).any())
    return torch.stack([above, above], -1) if is_above else below


def mutate(run):
    """What a submission would define whose table is computed as `run` does."""

    def alibi_bias(num_heads, length):
        with given.exchanged(counts=(num_heads,), length=length):
            numbers = run(start(torch.float64))[0].float()
        rows, columns = _seen(length)
        bias = torch.zeros(num_heads, length, length)
        if numbers.shape == (num_heads, len(rows)):
            bias[:, rows, columns] = numbers
        elif numbers.shape == (num_heads, len(rows), 2):  # what stands above the diagonal
            bias[:, columns, rows] = numbers[..., 0]
        else:
            return numbers
        return bias

    return {"alibi_bias": alibi_bias}


# --- slopes: from a number of heads to their slopes -------------------------------------------


def _sequence(n):
    return [2.0 ** (-8 * (head + 1) / n) for head in range(n)]


def _lower(n):
    return 1 << (n.bit_length() - 1)


def _is_power(n):
    return n == _lower(n)


def _filled(own, fill):
    """Slopes of the lower power by `own`, and of the rest by `fill(power, how many)`."""
    return lambda n: own(_lower(n)) + fill(_lower(n), n - _lower(n))


def _every_second(power, rest):
    return _sequence(2 * power)[0::2][:rest]


def _plainly(formula):
    """The same mistake in both sequences, put together as in the paper."""
    def slopes(n):
        low = _lower(n)
        finer = [formula(head, 2 * low) for head in range(2 * low)]
        return [formula(head, low) for head in range(low)] + finer[0::2][:n - low]
    return slopes


FIRST = "What are the slopes for 8 heads, written out, and what for 4?"
FILL = "Six heads: which four slopes come from four heads, and which two from eight?"
SLOPES = Axis("slopes", _filled(_sequence, _every_second), (
    Fault("slopes_one_sequence", "one sequence 2^(-8 (head + 1) / n) is used for numbers of heads "
          "that are no powers of two, too", FILL, OTHERS, _sequence),
    Fault("slopes_of_next_power", "for numbers of heads that are no powers of two, the first "
          "slopes of the next higher power are used", FILL, OTHERS,
          lambda n: _sequence(n if _is_power(n) else 2 * _lower(n))[:n]),
    Fault("slopes_second_half_fills", "the heads that fill up get every second slope from the "
          "second on, which are those of the first heads again", FILL, OTHERS,
          _filled(_sequence, lambda power, rest: _sequence(2 * power)[1::2][:rest])),
    Fault("slopes_filled_in_a_row", "the heads that fill up get the first slopes of the finer "
          "sequence, not every second one", FILL, OTHERS,
          _filled(_sequence, lambda power, rest: _sequence(2 * power)[:rest]), 2),
    Fault("slopes_sorted", "the slopes are sorted, so the heads that fill up do not come last",
          "Where do the heads that fill up go?", ORDER,
          lambda n: sorted(_sequence(_lower(n)) + _every_second(_lower(n), n - _lower(n)))[::-1]),
    Fault("slopes_fill_first", "the heads that fill up come first",
          "Where do the heads that fill up go?", ORDER,
          lambda n: _every_second(_lower(n), n - _lower(n)) + _sequence(_lower(n)), 2),
    Fault("slopes_reversed", "the slopes run from flat to steep",
          "Which head looks at the nearest tokens only: the first, or the last?", ORDER,
          lambda n: (_sequence(_lower(n)) + _every_second(_lower(n), n - _lower(n)))[::-1]),
    Fault("slopes_from_one", "the first slope is 1, since heads are counted from 0 in the exponent",
          FIRST, EIGHT, _plainly(lambda h, n: 2.0 ** (-8 * h / n))),
    Fault("slopes_of_eight", "the slopes are 1/2, 1/4, 1/8, ... for every number of heads", FIRST,
          POWERS, lambda n: [0.5 ** (head + 1) for head in range(n)]),
    Fault("slopes_inverted_ratio", "the exponent is multiplied by n / 8 instead of 8 / n", FIRST,
          POWERS, _plainly(lambda h, n: 2.0 ** (-n * (h + 1) / 8)), 2),
    Fault("slopes_undivided", "the exponent is not divided by the number of heads", FIRST, EIGHT,
          _plainly(lambda h, n: 2.0 ** (-8 * (h + 1))), 2),
    Fault("slopes_base_e", "the slopes are powers of e, not of 2", FIRST, EIGHT,
          _plainly(lambda h, n: math.exp(-8 * (h + 1) / n)), 2),
    Fault("slopes_harmonic", "the slopes are 1, 1/2, 1/3, ..., which is no geometric sequence",
          FIRST, EIGHT, lambda n: [1 / (head + 1) for head in range(n)], 2),
    Fault("slopes_alike", "all heads have the same slope, 1", FIRST, EIGHT, lambda n: [1.0] * n, 2),
))

# --- distances: from (queries, keys, length) --------------------------------------------------

FAR = "How far is token 3 from token 1, and how far from itself?"
DISTANCE = Axis("distance", lambda i, j, length: i - j, (
    Fault("distance_by_key", "the bias grows with the position of the key, not with the distance: "
          "softmax would not notice, but a token's bias towards itself is no longer 0", FAR, OWN,
          lambda i, j, length: 0 * i - j),
    Fault("distance_from_end", "keys are counted back from the last token, not from the query", FAR,
          OWN, lambda i, j, length: 0 * i + length - 1 - j, 2),
    Fault("distance_from_one", "distances are counted from 1", FAR, OWN,
          lambda i, j, length: i - j + 1),
    Fault("distance_by_query", "the bias depends on the query only, so all its keys have the same",
          FAR, LINES, lambda i, j, length: i + 0 * j, 2),
    Fault("distance_squared", "the distance is squared", "What is linear here?", LINES,
          lambda i, j, length: (i - j) ** 2),
    Fault("distance_root", "the root of the distance is taken", "What is linear here?", LINES,
          lambda i, j, length: (i - j).clamp(min=0).sqrt(), 2),
    Fault("distance_log", "the logarithm of the distance is taken", "What is linear here?", LINES,
          lambda i, j, length: (i - j).clamp(min=0).log1p()),
    Fault("distance_per_length", "the distance is divided by the length",
          "Does the bias between two tokens depend on how many others there are?", CORNER,
          lambda i, j, length: (i - j) / length),
    Fault("distance_one", "every earlier token counts as one step away", FAR, LINES,
          lambda i, j, length: (i - j).clamp(max=1), 2),
))

WHICH = "Which keys get a lower score: the near ones, or the far ones?"
SIGNS = Axis("sign", -1.0, (
    Fault("sign_positive", "the bias has the wrong sign (or rows and columns are exchanged): far "
          "keys are preferred", WHICH, SIGN, 1.0),
))


def bend(state, distance, sign):
    place = state["place"]
    far = distance(place[:, :, None], place[:, None, :], given.length)
    return {"line": sign * far}  # (n, length, length)


SHAPE = "How many heads, queries and keys are there, and which axis is whose?"


def _table(line, heads, slopes):
    return torch.tensor(slopes(heads), dtype=torch.float64).to(line)[:, None, None] * line[:, None]


def _below(line, slopes):
    rows, columns = _seen(given.length)
    tables = [_table(line, heads, slopes)[..., rows, columns] for heads in given.counts]
    return torch.cat(tables, 1)


def _above(line, slopes):
    return torch.stack([_below(line, slopes)] * 2, -1)


PRESENTED = Axis("form", _below, (
    Fault("above_the_diagonal", "all that is not zero stands above the diagonal, where a causal "
          "mask hides it", WHICH, LINES, _above, 2),
    Fault("heads_last", "the heads are the last axis: (length, length, num_heads)", SHAPE, FORM,
          lambda line, slopes: _table(line, given.counts[0], slopes).permute(0, 2, 3, 1), 2),
    Fault("last_query_only", "there is one row for each head, that of the last token", SHAPE, FORM,
          lambda line, slopes: _table(line, given.counts[0], slopes)[:, :, -1], 2),
    Fault("one_head_only", "there is the table of one head only", SHAPE, FORM,
          lambda line, slopes: _table(line, given.counts[0], slopes)[:, 0], 3),
))


ALIBI = Dictionary(
    exercise="alibi_bias",
    axes=(SLOPES, DISTANCE, SIGNS, PRESENTED),
    steps=(
        Step(("distance", "sign"), bend),
        Step(("form", "slopes"), lambda state, form, slopes: {
            "output": form(state["line"], slopes)}),
    ),
    start=start,
    probe=probe,
    mutate=mutate,
    gross=("slopes_alike", "one_head_only"),
    whole=(WHOLE,),
    tolerance=1e-6,
)
