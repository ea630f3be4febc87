"""The attention block: the known mistakes, with an attention and an encoding that are right."""

from autograder.faults import Dictionary, Step

from .. import graded
from .attending import FINISH, MASK, NUMBER, RESIDUAL, RETURNED, TIMES, VIEW, attend, finish
from .embedding import BEFORE, POSITIONS, SCALE, place
from .given import mutate, probe, start

BLOCK = Dictionary(
    exercise="attention_block",
    axes=(SCALE, POSITIONS, BEFORE, VIEW, NUMBER, MASK, TIMES, RETURNED, RESIDUAL, FINISH),
    steps=(
        Step(("scale", "positions", "before"), place),
        Step(("view", "number", "mask", "times", "returned"), attend),
        Step(("residual", "finish"), finish),
    ),
    start=start,
    probe=probe,
    mutate=mutate,
    gross=(
        "attention_missing",
        "embedding_missing",
    ),
    whole=(graded.BLOCK_WHOLE,),
)
