"""Sinusoidal positional encoding: the known mistakes, in the order in which it is computed."""

from autograder.faults import Dictionary, Step

from .. import graded
from .angles import BASE, EXPONENT, POSITION, UNIT, turn
from .given import mutate, probe, start
from .table import AMPLITUDE, FORM, FUNCTIONS, LAYOUT, arrange, present

ENCODING = Dictionary(
    exercise="positional_encoding",
    axes=(POSITION, EXPONENT, BASE, UNIT, FUNCTIONS, LAYOUT, AMPLITUDE, FORM),
    steps=(
        Step(("position", "exponent", "base", "unit"), turn),
        Step(("functions", "layout"), arrange),
        Step(("amplitude", "form"), present),
    ),
    start=start,
    probe=probe,
    mutate=mutate,
    gross=(
        "position_ignored",
        "position_all_one",
        "table_zero",
        "table_one",
        "rows_first_only",
        "layout_first_half_only",
    ),
    slight=(
        "table_half_precision",
        "table_bfloat16",
        "table_three_decimals",
        "table_two_decimals",
    ),
    whole=(graded.ROWS,),
    whole_compares_all=False,
    tolerance=1e-5,
)
