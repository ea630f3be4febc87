"""The table: which function of the angle stands in which column, and what becomes of it."""

import math

import torch

from autograder.faults import Axis, Fault, unchanged

from .. import graded
from .angles import WHERE
from .given import given

# fmt: off
# The axes are tables: one fault after the other, without a line for each of its parts.

# --- sine and cosine: (angles of even columns, angles of odd columns) -> the two --------------

ALTERNATE = "Which columns are sines, which are cosines, and of which angle?"


def _function(name, sentence, does, cost=1, test=graded.PAIRS):
    return Fault(name, sentence, ALTERNATE, test, does, cost)


def _first(odd, otherwise):
    """Only the first odd column written, as 1:2 for 1::2 does."""
    return torch.cat([odd[..., :1], otherwise[..., 1:]], -1)


FUNCTIONS = Axis("functions", lambda s, c: (s.sin(), c.cos()), (
    _function("sine_cosine_swapped", "sine and cosine have changed places",
              lambda s, c: (s.cos(), c.sin()), test=graded.LAYOUT),
    _function("sine_only", "every column is a sine", lambda s, c: (s.sin(), c.sin())),
    _function("cosine_only", "every column is a cosine", lambda s, c: (s.cos(), c.cos())),
    _function("angles_only", "the angles are returned, without sine and cosine",
              lambda s, c: (s, c)),
    _function("cosine_missing", "the odd columns stay zero",
              lambda s, c: (s.sin(), torch.zeros_like(c))),
    _function("sine_missing", "the even columns stay zero",
              lambda s, c: (torch.zeros_like(s), c.cos())),
    _function("cosine_of_angle_missing", "the odd columns hold the angles themselves",
              lambda s, c: (s.sin(), c), 2),
    _function("sine_of_angle_missing", "the even columns hold the angles themselves",
              lambda s, c: (s, c.cos()), 2),
    _function("cosine_of_sine", "the cosine is taken of the sine, which has overwritten the angle",
              lambda s, c: (s.sin(), s.sin().cos()), 2),
    _function("cosine_in_one_column", "only the first odd column is a cosine (1:2 for 1::2), the "
              "others stay angles", lambda s, c: (s.sin(), _first(c.cos(), c)), 2),
    _function("cosine_in_one_column_of_zeros", "only the first odd column is a cosine (1:2 for "
              "1::2), the others stay zero",
              lambda s, c: (s.sin(), _first(c.cos(), torch.zeros_like(c))), 2),
    _function("cosine_negative", "the cosines have the wrong sign",
              lambda s, c: (s.sin(), -c.cos()), 2, test=graded.ROWS),
    _function("sine_plus_cosine", "sine and cosine are added up in every column",
              lambda s, c: (s.sin() + s.cos(), c.sin() + c.cos()), 3),
    _function("tangent", "the tangent stands in place of the cosine",
              lambda s, c: (s.sin(), c.tan()), 3),
    _function("sine_by_row", "even rows are sines and odd rows are cosines",
              lambda s, c: 2 * [_by_row(s)] if s is c else (_by_row(s), _by_row(c)), 2),
))


def _by_row(angle):
    odd = torch.arange(given.max_len + 1)[:, None] % 2 == 1
    return torch.where(odd, angle.cos(), angle.sin())


# --- layout: (even, odd) of the pairs -> columns ----------------------------------------------

COLUMNS = "Which two columns belong to the first frequency?"


def _interleaved(even, odd):
    return torch.stack([even, odd], -1).flatten(2)


def _layout(name, sentence, does, cost=1, test=graded.LAYOUT):
    return Fault(f"layout_{name}", sentence, COLUMNS, test, does, cost)


LAYOUT = Axis("layout", _interleaved, (
    _layout("halves", "the sines fill the first half of the columns and the cosines the second, "
            "instead of taking turns", lambda e, o: torch.cat([e, o], -1)),
    _layout("sum", "sines and cosines are added into half of the columns, twice",
            lambda e, o: (e + o).repeat(1, 1, 2), 3),
    _layout("reversed", "the columns stand in reverse order",
            lambda e, o: _interleaved(e, o).flip(-1), 2),
    _layout("pairs_by_view", "sines and cosines are put together by a view, which mixes rows",
            lambda e, o: torch.cat([e[:, :given.max_len], o[:, :given.max_len]], 1)
            .reshape(-1, given.max_len, given.d_model), 3),
    _layout("first_half_only", "only the first half of the columns is filled",
            lambda e, o: _half_filled(e, o), 3, test=graded.PAIRS),
))


def _half_filled(even, odd):
    full = _interleaved(even, odd)
    full[..., given.half:] = 0
    return full


def arrange(state, functions, layout):
    return {"table": layout(*functions(state["sines"], state["cosines"]))}


# --- afterwards -------------------------------------------------------------------------------


def _amplitude(name, sentence, does, cost=2, test=graded.PAIRS):
    return Fault(f"table_{name}", sentence, "Between which two numbers does every entry lie?",
                 test, does, cost)


def _row_zeroed(table):
    return torch.cat([torch.zeros_like(table[:, :1]), table[:, 1:]], 1)


AMPLITUDE = Axis("amplitude", unchanged, (
    _amplitude("times_root", "the table is multiplied by sqrt(d_model)",
               lambda t: t * math.sqrt(given.d_model)),
    _amplitude("over_root", "the table is divided by sqrt(d_model)",
               lambda t: t / math.sqrt(given.d_model)),
    _amplitude("tenth", "the table is multiplied by 0.1", lambda t: t * 0.1, 3),
    _amplitude("unit_rows", "the rows are scaled to length 1",
               lambda t: torch.nn.functional.normalize(t, dim=-1)),
    _amplitude("negative", "the whole table has the wrong sign", lambda t: -t, test=graded.ROWS),
    _amplitude("half_precision", "the table has been rounded to half precision",
               lambda t: t.half().to(t), 4, test=graded.ROWS),
    _amplitude("bfloat16", "the table has been rounded to bfloat16",
               lambda t: t.bfloat16().to(t), 4),
    _amplitude("three_decimals", "the table has been rounded to 3 decimals",
               lambda t: t.round(decimals=3), 4, test=graded.ROWS),
    _amplitude("two_decimals", "the table has been rounded to 2 decimals",
               lambda t: t.round(decimals=2), 4),
    _amplitude("from_zero_to_one", "the entries are moved to between 0 and 1",
               lambda t: (t + 1) / 2, 3),
    _amplitude("zero", "the table is zero", lambda t: 0 * t, 4),
    _amplitude("one", "the table is one", lambda t: 0 * t + 1, 4),
))

ROWS = "What are sin(0) and cos(0), and what follows for row 0?"
FORM = Axis("form", unchanged, (
    Fault("row_zero_zeroed", "row 0 is set to zero, as if it were padding", ROWS,
          graded.POSITION, _row_zeroed),
    Fault("transposed", "the table is transposed: (d_model, max_len)",
          "What does one row stand for: a position or a feature?", graded.ENCODING_FORM,
          lambda t: t.mT),
    Fault("rows_one_more", "the table has max_len + 1 rows", WHERE, graded.ENCODING_FORM, None, 2),
    Fault("transposed_by_view", "the table is turned by a view, which scrambles it",
          "Does a view move an axis?", graded.ROWS,
          lambda t: t.mT.reshape(-1, given.max_len, given.d_model), 2),
    Fault("rows_first_only", "only the first row is filled", "When does the loop end?",
          graded.ROWS, lambda t: torch.cat([t[:, :1], torch.zeros_like(t[:, 1:])], 1), 2),
    Fault("rows_one_less", "the last row is missing", WHERE, graded.ENCODING_FORM,
          lambda t: t[:, :-1], 2),
    Fault("columns_half", "the table has d_model / 2 columns", COLUMNS, graded.ENCODING_FORM,
          lambda t: t[..., :given.half], 3),
))


def present(state, amplitude, form):
    table = amplitude(state["table"])
    return {"output": form(table[:, :given.max_len]) if form else table}
