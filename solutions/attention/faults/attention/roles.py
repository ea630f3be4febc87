"""Which projection plays which role: every confusion of Wq, Wk, Wv and the input itself."""

from itertools import product

from autograder.faults import Axis, Fault

from .. import graded

RIGHT = ("Wq", "Wk", "Wv")
ROLES = ("queries", "keys", "values")

# Confusions that people really make get a name of their own; the others are spelt out.
KNOWN = {
    ("Wk", "Wq", "Wv"): (
        "queries_keys_swapped",
        "queries and keys have changed places (`Wq` with `Wk`, or the two sides of their product)",
    ),
    ("x", "x", "Wv"): (
        "queries_keys_from_x",
        "queries and keys are the input itself, without `Wq` and `Wk`",
    ),
    ("x", "x", "x"): (
        "nothing_projected",
        "queries, keys and values are the input itself, without projections",
    ),
    **{
        (name,) * 3: (
            f"one_projection_{name.lower()}",
            f"queries, keys and values all come from `{name}`",
        )
        for name in RIGHT
    },
}


def confusion(sources: tuple[str, ...]) -> Fault:
    """The fault of taking queries, keys and values from `sources`."""
    wrong = [(n, s) for n, s, right in zip(ROLES, sources, RIGHT, strict=True) if s != right]
    parts = [
        f"the {name} " + ("are the input itself" if source == "x" else f"come from `{source}`")
        for name, source in wrong
    ]
    spelt = "_".join(f"{name}_from_{source.lower()}" for name, source in wrong)
    name, sentence = KNOWN.get(sources, (spelt, " and ".join(parts)))
    values = sources[2] != RIGHT[2]
    only_values = values and len(wrong) == 1
    return Fault(
        name,
        sentence,
        "Which of Wq, Wk and Wv makes the "
        + ("values" if only_values else "queries, the keys and the values")
        + ", and what does it act on?",
        graded.VALUES if values else graded.ROLES,
        sources,
        cost=1 if len(wrong) == 1 or sources in KNOWN else 2,
    )


def chain(name: str, sentence: str, test: str, *sources: str) -> Fault:
    """A fault in which one projection follows another."""
    return Fault(
        name, sentence, "What does each projection act on, and how often?", test, sources, 3
    )


CHAINS = (
    chain(
        "projections_chained",
        "keys are made from the queries and values from the keys, instead of all from the input",
        graded.VALUES,
        *("Wq", "Wq>Wk", "Wq>Wk>Wv"),
    ),
    chain("queries_twice", "`Wq` is applied twice", graded.ROLES, "Wq>Wq", "Wk", "Wv"),
    chain("keys_twice", "`Wk` is applied twice", graded.ROLES, "Wq", "Wk>Wk", "Wv"),
    chain("values_twice", "`Wv` is applied twice", graded.VALUES, "Wq", "Wk", "Wv>Wv"),
    chain("keys_from_queries", "keys are made from the queries", graded.ROLES, "Wq", "Wq>Wk", "Wv"),
)

ROLES_AXIS = Axis(
    "roles",
    RIGHT,
    (*(confusion(s) for s in product((*RIGHT, "x"), repeat=3) if s != RIGHT), *CHAINS),
)
