"""How fast each pair of features turns: what the relative offset and RoPE have in common."""

import math

import torch

from autograder.faults import Axis, Fault

# fmt: off
# The axes are tables: one fault after the other, without a line for each of its parts.

HOW_FAST = "What is the exponent for pair 0, what is it for pair 1, and what do they divide by?"


def exponents(test, size):
    """The axis of exponents. A way takes (pair numbers, how many features) and gives exponents.

    `size` is how the number of features is called in the exercise, `test` what charges for it.
    """
    def fault(name, sentence, does, cost=1):
        return Fault(f"exponent_{name}", sentence, HOW_FAST, test, does, cost)

    return Axis("exponent", lambda i, d: 2 * i / d, (
        fault("doubled", f"the exponent is 2 * 2i / {size}, since an even number is doubled once "
              "more", lambda i, d: 4 * i / d),
        fault("halved", f"the exponent is i / {size} for pair i, half of what it should be",
              lambda i, d: i / d),
        fault("from_one", "pairs are counted from 1, so the exponents start with that of the "
              "second pair", lambda i, d: 2 * (i + 1) / d),
        fault("zero", "every pair turns equally fast, as if the exponent were 0",
              lambda i, d: 0 * i),
        fault("to_last", f"the last exponent is 1 (divided by {size} / 2 - 1)",
              lambda i, d: i / max(len(i) - 1, 1), 2),
        fault("undivided", f"the exponent 2i is not divided by {size}", lambda i, d: 2 * i, 3),
        fault("undivided_pair", f"the exponent is i, not 2i / {size}", lambda i, d: i, 3),
        fault("inverted", "the position is multiplied by base^(2i / "
              f"{size}) instead of divided", lambda i, d: -2 * i / d),
        fault("reversed", "the frequencies run from slow to fast",
              lambda i, d: 2 * (len(i) - 1 - i) / d, 2),
    ))


def pair_frequencies(exponent, base, size):
    """What each pair turns by: (size / 2,), float64."""
    return float(base) ** -exponent(torch.arange(size // 2, dtype=torch.float64), size)


def units(test):
    """The axis of units. A way changes angles."""
    hint = "What do sin and cos expect: which unit, and which factor?"
    return Axis("unit", lambda a: a, (
        Fault("angle_in_degrees", "the angles are turned into degrees", hint, test,
              lambda a: a * 180 / math.pi, 2),
        Fault("angle_from_degrees", "the angles are taken for degrees", hint, test,
              lambda a: a * math.pi / 180, 2),
        Fault("angle_times_two_pi", "the angles are multiplied by 2 pi", hint, test,
              lambda a: a * 2 * math.pi, 2),
        Fault("angle_doubled", "the angles are twice as large as they should be", hint, test,
              lambda a: a * 2, 2),
    ))
