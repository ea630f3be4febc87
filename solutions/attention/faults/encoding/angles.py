"""The angles: positions, frequencies, units."""

import math

import torch

from autograder.faults import Axis, Fault, unchanged

from .. import graded
from .given import given

# fmt: off
# The axes are tables: one fault after the other, without a line for each of its parts.

# --- positions --------------------------------------------------------------------------------

WHERE = "Which position does the first row stand for, and which the last?"


def _position(name, sentence, does, cost=1, test=graded.POSITION):
    return Fault(f"position_{name}", sentence, WHERE, test, does, cost)


POSITION = Axis("position", unchanged, (
    _position("from_one", "positions are counted from 1", lambda p: p + 1),
    _position("from_minus_one", "positions are counted from -1", lambda p: p - 1, 2),
    _position("centred", "positions are counted from the middle",
              lambda p: p - (given.max_len - 1) / 2, 2, test=graded.PREFIX),
    _position("centred_whole", "positions are counted from the middle, max_len // 2",
              lambda p: p - given.max_len // 2, 2, test=graded.PREFIX),
    _position("reversed", "positions are counted backwards", lambda p: given.max_len - 1 - p,
              test=graded.PREFIX),
    _position("normalised", "positions are divided by max_len", lambda p: p / given.max_len, 2,
              test=graded.PREFIX),
    _position("normalised_to_one", "positions are divided by max_len - 1",
              lambda p: p / (given.max_len - 1), 2, test=graded.PREFIX),
    _position("stretched", "positions reach max_len, in steps that are a little more than 1",
              lambda p: p * given.max_len / (given.max_len - 1), 2, test=graded.PREFIX),
    _position("scaled_by_d_model", "positions are divided by d_model",
              lambda p: p / given.d_model, 2, test=graded.FREQUENCY),
    _position("squared", "positions are squared", lambda p: p * p, 3, test=graded.FREQUENCY),
    _position("doubled", "positions are counted in steps of 2", lambda p: 2 * p, 2,
              test=graded.FREQUENCY),
    _position("ignored", "every row is that of position 0", lambda p: 0 * p, 3,
              test=graded.FREQUENCY),
    _position("all_one", "every row is that of position 1", lambda p: 0 * p + 1, 3),
    _position("modulo_d_model", "positions start again after d_model rows",
              lambda p: p % given.d_model, 3, test=graded.FREQUENCY),
))


# --- frequencies: a way to get the exponents gives (for the sines, for the cosines) -----------


def _powers(exponents):
    """Frequencies base ** -exponent for columns 0, 1, 2, ... given as a function of the column."""
    def frequencies(base):
        column = torch.arange(given.d_model, dtype=torch.float64)
        return base ** -exponents(column[0::2]), base ** -exponents(column[1::2])
    return frequencies


def _pairs(exponents):
    """The same for pairs 0, 1, 2, ..., one frequency for both columns."""
    def frequencies(base):
        frequency = base ** -exponents(torch.arange(given.half, dtype=torch.float64))
        return frequency, frequency
    return frequencies


HOW_FAST = "What is the exponent of 10000 in column 2, and what is it in column 3?"


def _exponent(name, sentence, does, cost=1, test=graded.FREQUENCY):
    return Fault(f"exponent_{name}", sentence, HOW_FAST, test, does, cost)


def _floored(base):
    # -math.log(base) / d_model // 2 is a whole number: division first, then its floor.
    factor = -math.log(base) / given.d_model // 2
    frequency = (torch.arange(0, given.d_model, 2).double() * factor).exp()
    return frequency, frequency


def _floored_pairs(base):
    frequency = (torch.arange(given.half).double() * (-math.log(base) / given.d_model // 2)).exp()
    return frequency, frequency


def _linear():
    return torch.arange(given.half).double() * 2 / given.d_model


def _next_pair(base):
    sines, _ = _pairs(lambda i: 2 * i / given.d_model)(base)
    _, cosines = _pairs(lambda i: 2 * (i + 1) / given.d_model)(base)
    return sines, cosines


EXPONENT = Axis("exponent", _pairs(lambda i: 2 * i / given.d_model), (
    _exponent("doubled", "the exponent is 2 * 2i / d_model, since an even column number is "
              "doubled once more", _pairs(lambda i: 4 * i / given.d_model)),
    _exponent("halved", "the exponent is i / d_model for pair i, half of what it should be",
              _pairs(lambda i: i / given.d_model)),
    _exponent("per_column", "odd columns have a frequency of their own (column / d_model)",
              _powers(lambda c: c / given.d_model), test=graded.PAIRS),
    _exponent("per_column_doubled", "the exponent is 2 * column / d_model for every column, so it "
              "is doubled, and sine and cosine differ in frequency",
              _powers(lambda c: 2 * c / given.d_model)),
    _exponent("next_for_cosine", "the cosines use the exponent of the next pair", _next_pair,
              test=graded.PAIRS),
    _exponent("next_for_both", "the exponents start with that of the second pair",
              _pairs(lambda i: 2 * (i + 1) / given.d_model), 2),
    _exponent("zero", "every frequency is 1, as if the exponent were rounded down to 0",
              _pairs(lambda i: 0 * i)),
    _exponent("floored", "-log(10000) / d_model // 2 divides first and rounds down to -1",
              _floored, 2),
    _exponent("floored_pair", "-log(10000) / d_model // 2 is rounded down to -1 and multiplied by "
              "i instead of 2i", _floored_pairs, 2),
    _exponent("over_max_len", "the exponent is divided by max_len instead of d_model",
              _pairs(lambda i: 2 * i / given.max_len), test=graded.PREFIX),
    _exponent("to_last", "the last frequency is 1/10000 (divided by d_model / 2 - 1)",
              _pairs(lambda i: i / (given.half - 1))),
    _exponent("to_last_column", "the exponent is divided by d_model - 1",
              _pairs(lambda i: 2 * i / (given.d_model - 1)), 2),
    _exponent("undivided", "the exponent 2i is not divided by d_model", _pairs(lambda i: 2 * i), 4),
    _exponent("undivided_pair", "the exponent is i, not 2i / d_model", _pairs(lambda i: i), 3),
    _exponent("inverted", "the position is divided by the frequency instead of multiplied",
              _pairs(lambda i: -2 * i / given.d_model)),
    _exponent("tiled", "the frequencies are listed twice in a row, not each twice",
              _powers(lambda c: 2 * (c % given.half) / given.d_model), 2, test=graded.PAIRS),
    _exponent("reversed", "the frequencies run from slow to fast",
              _pairs(lambda i: 2 * (given.half - 1 - i) / given.d_model), 2),
    _exponent("swapped_with_base", "base and exponent have changed places",
              lambda base: 2 * [_linear() ** (1 / base)], 3),
    _exponent("linear", "the position is multiplied by 2i / d_model itself",
              lambda base: 2 * [_linear()], 3),
))


def _base(name, what, number, cost=1, test=graded.FREQUENCY):
    return Fault(f"base_{name}", f"{what} instead of 10000",
                 "Which number is raised to 2i / d_model?", test, number, cost)


BASE = Axis("base", 10000.0, (
    _base("1000", "the base is 1000", 1000.0),
    _base("100000", "the base is 100000", 100000.0, 2),
    _base("10", "the base is 10", 10.0, 3),
    _base("2", "the base is 2", 2.0, 3),
    _base("e", "the base is e, since the logarithm of 10000 is missing,", math.e, 2),
    _base("log10", "the base is e**4, since log10 and exp are mixed,", math.e**4, 2),
    _base("d_model", "the base is d_model", lambda: given.d_model, 3),
    _base("max_len", "the base is max_len", lambda: given.max_len, 3, test=graded.PREFIX),
))


def _unit(name, sentence, number, cost=2, test=graded.FREQUENCY):
    return Fault(f"angle_{name}", sentence, "What does sin expect: which unit, and which factor?",
                 test, number, cost)


UNIT = Axis("unit", 1.0, (
    _unit("in_degrees", "the angles are turned into degrees", 180 / math.pi),
    _unit("from_degrees", "the angles are taken for degrees", math.pi / 180, 3),
    _unit("times_two_pi", "the angles are multiplied by 2 pi", 2 * math.pi),
    _unit("times_pi", "the angles are multiplied by pi", math.pi),
    _unit("negative", "the angles have the wrong sign, and with them the sines", -1.0, 1,
              test=graded.ROWS),
))


def turn(state, position, exponent, base, unit):
    place = position(state["position"])[..., None] * unit
    base = float(base() if callable(base) else base)
    sines, cosines = (frequency.to(place) for frequency in exponent(base))
    return {"sines": place * sines, "cosines": place * cosines}
