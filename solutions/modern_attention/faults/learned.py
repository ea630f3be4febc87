"""Learned positions: the known mistakes."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.faults import Axis, Dictionary, Fault, Step, unchanged

from .context import Context

# fmt: off
# The axes are tables: one fault after the other, without a line for each of its parts.

FORM, ROWS = "learned_positions::test_form", "learned_positions::test_rows"
ADDED, WHOLE = "learned_positions::test_added", "learned_positions::test_whole"

_random = torch.Generator().manual_seed(31)
BATCH, LENGTH, MAX_LEN, D_MODEL = 3, 5, 9, 6
X = torch.randn((BATCH, LENGTH, D_MODEL), generator=_random, dtype=torch.float64)
TABLE = torch.randn((MAX_LEN, D_MODEL), generator=_random, dtype=torch.float64)
given = Context(table=TABLE)


def start(dtype):
    return {"x": X.to(dtype)[None]}


def probe(submission):
    layer = submission.LearnedPositions(MAX_LEN, D_MODEL)
    names = [
        name for name, parameter in layer.named_parameters()
        if [size for size in parameter.shape if size != 1] == [MAX_LEN, D_MODEL]
    ]
    if len(names) != 1:
        return None
    state = dict(layer.state_dict())
    state[names[0]] = TABLE.float().reshape(state[names[0]].shape)
    layer.load_state_dict(state)
    layer.eval()
    return layer(X.float())


def mutate(run):
    """What a submission would define that adds positions as `run` does."""

    class LearnedPositions(nn.Module):
        def __init__(self, max_len, d_model):
            super().__init__()
            self.table = nn.Parameter(torch.randn(max_len, d_model))

        def forward(self, x):
            if x.shape[1] > len(self.table):
                raise ValueError("more tokens than rows")
            with given.exchanged(table=self.table):
                return run({"x": x[None]})[0]

    return {"LearnedPositions": LearnedPositions}


# --- rows: from (batch, length, max_len) to their numbers, (batch, length) ---------------------

WHICH = "Which row of the table does the first token of a sequence get, and which the last?"


def _places(batch, length, max_len):
    return torch.arange(length).expand(batch, length)


def _fault(name, sentence, does, cost=1):
    return Fault(f"rows_{name}", sentence, WHICH, ROWS, does, cost)


ROW = Axis("row", _places, (
    _fault("from_one", "rows are counted from 1, so the first is never used",
           lambda b, n, m: (_places(b, n, m) + 1) % m),
    _fault("from_the_end", "the last rows of the table are used in place of the first",
           lambda b, n, m: _places(b, n, m) + m - n),
    _fault("reversed", "rows are used from last to first",
           lambda b, n, m: n - 1 - _places(b, n, m), 2),
    _fault("by_sequence", "the row is chosen by the number of the sequence in the batch, not by "
           "the place in it", lambda b, n, m: torch.arange(b)[:, None].expand(b, n) % m),
    _fault("first", "every token gets the first row", lambda b, n, m: 0 * _places(b, n, m)),
    _fault("of_length", "every token gets the row of the length of the sequence",
           lambda b, n, m: 0 * _places(b, n, m) + n % m, 2),
    _fault("last", "every token gets the row of the last token",
           lambda b, n, m: 0 * _places(b, n, m) + n - 1, 2),
))

AMOUNT = "Is either of the two multiplied by something in the formula?"


def _amount(name, sentence, does, cost=1):
    return Fault(name, sentence, AMOUNT, ADDED, does, cost)


AMOUNTS = Axis("amounts", lambda x, t: (x, t), (
    _amount("tokens_scaled", "the tokens are multiplied by sqrt(d_model)",
            lambda x, t: (x * math.sqrt(x.shape[-1]), t)),
    _amount("tokens_divided", "the tokens are divided by sqrt(d_model)",
            lambda x, t: (x / math.sqrt(x.shape[-1]), t), 2),
    _amount("rows_scaled", "the rows are multiplied by sqrt(d_model)",
            lambda x, t: (x, t * math.sqrt(x.shape[-1]))),
    _amount("rows_divided", "the rows are divided by sqrt(d_model)",
            lambda x, t: (x, t / math.sqrt(x.shape[-1])), 2),
    _amount("rows_twice", "the rows are added twice", lambda x, t: (x, 2 * t)),
    _amount("rows_small", "the rows are multiplied by 0.02", lambda x, t: (x, 0.02 * t), 2),
    _amount("rows_sine", "the sine of the rows is taken", lambda x, t: (x, t.sin()), 3),
))


def look_up(state, row, amounts):
    x = state["x"]
    table = given.table.to(x)
    rows = table[row(x.shape[1], x.shape[2], len(table))].expand_as(x)
    tokens, rows = amounts(x, rows)
    return {"tokens": tokens, "rows": rows}


MEET = "By which operation do token and row meet?"
OPERATION = Axis("operation", torch.add, (
    Fault("multiplied", "tokens and rows are multiplied", MEET, ADDED, torch.mul),
    Fault("subtracted", "the rows are subtracted", MEET, ADDED, torch.sub),
    Fault("rows_only", "the rows are returned without the tokens", MEET, ADDED, lambda x, t: t),
    Fault("rows_alone", "the rows are returned without the tokens, and without the batch", MEET,
          ADDED, lambda x, t: t[:, :1]),
    Fault("tokens_only", "the tokens are returned without the rows", MEET, ADDED,
          lambda x, t: x + 0 * t),
    Fault("concatenated", "tokens and rows are put side by side, not added", MEET, FORM,
          lambda x, t: torch.cat([x, t], -1)),
))

LAST = "Does anything follow the addition in the formula?"
FINISH = Axis("finish", unchanged, (
    Fault("finish_normalised", "the sum goes through a layer norm", LAST, ADDED,
          lambda y: F.layer_norm(y, y.shape[-1:]), 2),
    Fault("finish_relu", "the sum goes through a ReLU", LAST, ADDED, torch.relu, 3),
    Fault("finish_mean", "the sum is averaged over the tokens", LAST, FORM,
          lambda y: y.mean(2), 2),
))


def meet(state, operation, finish):
    return {"output": finish(operation(state["tokens"], state["rows"]))}


LEARNED = Dictionary(
    exercise="learned_positions",
    axes=(ROW, AMOUNTS, OPERATION, FINISH),
    steps=(Step(("row", "amounts"), look_up), Step(("operation", "finish"), meet)),
    start=start,
    probe=probe,
    mutate=mutate,
    gross=("tokens_only",),
    whole=(WHOLE,),
)
