"""Multi-head attention: the known mistakes, in the order in which the computation goes."""

from autograder.faults import Dictionary, Step

from .. import graded
from .given import mutate, probe, start
from .heads import HEAD_NORM, KEYS, MERGE, SPLIT, merge, split
from .output import FINISH, OUTPUT, RESIDUAL, finish, project_output
from .projections import INPUT, PROJECTIONS, project
from .roles import ROLES_AXIS
from .weights import DIVISOR, MASK, MIXING, NORMALISER, PRODUCT, RETURNED, mix, score

ATTENTION = Dictionary(
    exercise="multi_head_attention",
    axes=(
        INPUT,
        PROJECTIONS,
        ROLES_AXIS,
        SPLIT,
        KEYS,
        HEAD_NORM,
        PRODUCT,
        DIVISOR,
        MASK,
        NORMALISER,
        MIXING,
        RETURNED,
        MERGE,
        OUTPUT,
        RESIDUAL,
        FINISH,
    ),
    steps=(
        Step(("input", "projections", "roles"), project),
        Step(("split", "keys", "head_norm"), split),
        Step(("product", "divisor", "mask"), score),
        Step(("normaliser", "divisor", "split", "mixing", "product", "returned"), mix),
        Step(("merge",), merge),
        Step(("output",), project_output),
        Step(("residual", "finish"), finish),
    ),
    start=start,
    probe=probe,
    mutate=mutate,
    gross=(
        "returns_input",
        "weights_ignored",
        "weights_uniform",
        "returns_weights",
        "returns_mean_weights",
        "nothing_projected",
    ),
    whole=(graded.WHOLE,),
)
