"""Whether the bounds of the tests stand where they should between right and wrong answers.

Of every number that a test judges by, the farthest right answer is known from the gallery, and the
nearest wrong one from the fault dictionary; see `right_styles` and `proof`. All distances are in
tolerances: above 1 fails.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from autograder.faults import Dictionary
from autograder.proof import Proof
from autograder.right_styles import Distance, Found

FARTHEST_RIGHT = 0.5
NEAREST_WRONG = 100.0
NEAREST_SLIGHT = 2.0  # for faults that a dictionary declares to be slight, as rounding
LIMIT = 200.0
"""A tolerance is at most so many times the error that right answers have, or that float32 has at
that size, or that a mistake causes which the test spares. Hence no bound can be loosened a
hundredfold: 0.5 / 100 = 1 / LIMIT."""
SPARED = 2.0  # times the most that a known mistake makes of what a test says it spares


@dataclass
class Margins:
    """The figures of one exercise, with what is at the margin."""

    exercise: str
    bounds: int = 0
    farthest_right: float = 0.0
    nearest_wrong: float = math.inf
    nearest_slight: float = math.inf
    loosest: float = 0.0
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        slight = f", slight ones at {self.nearest_slight:.1f}"
        return (
            f"{self.exercise}: {self.bounds} bounds, right within {self.farthest_right:.2f}, "
            f"wrong beyond {self.nearest_wrong:.0f}"
            + (slight if math.isfinite(self.nearest_slight) else "")
            + f", {self.loosest:.0f} times what right needs"
        )


def calibrate(
    dictionaries: Collection[Dictionary], proofs: Sequence[Proof], found: Found
) -> list[Margins]:
    """The margins of every exercise that has a dictionary, and what is wrong with them."""
    by_exercise = {proof.exercise: proof for proof in proofs}
    return [
        _margins(dictionary, by_exercise[dictionary.exercise], found)
        for dictionary in dictionaries
        if dictionary.exercise in by_exercise
    ]


def _margins(dictionary: Dictionary, proof: Proof, found: Found) -> Margins:
    margins = Margins(dictionary.exercise)
    prefix = f"{dictionary.exercise}::"
    margins.problems += [problem for problem in found.problems if problem.startswith(prefix)]
    through = _let_through(proof)
    for distance in found.distances:
        if distance.test.startswith(prefix):
            margins.bounds += 1
            margins.farthest_right = max(margins.farthest_right, distance.error)
            margins.loosest = max(margins.loosest, 1 / max(distance.anchor, 1e-30))
            margins.problems += judge_right(
                distance, through.get((distance.test, distance.bound), 0.0)
            )
    for fault in dictionary.faults().values():
        for test in {fault.test, *dictionary.whole}:
            nearest = _nearest(proof, fault.id, test)
            if nearest is None:
                continue
            # A test that looks at parts of the answer only may see little of it.
            is_part = test != fault.test and not dictionary.whole_compares_all
            is_slight = is_part or fault.id in dictionary.slight
            if is_slight:
                margins.nearest_slight = min(margins.nearest_slight, nearest)
            else:
                margins.nearest_wrong = min(margins.nearest_wrong, nearest)
            least = NEAREST_SLIGHT if is_slight else NEAREST_WRONG
            if nearest < least:
                margins.problems.append(
                    f"{test}: the fault {fault.id} is only {nearest:.3g} tolerances away, not "
                    f"{least:g}. Choose inputs that show it better, or a tighter tolerance."
                )
    return margins


def judge_right(distance: Distance, through: float = 1.0) -> Iterator[str]:
    """What is wrong with a bound as seen from right answers, one line each.

    `through` is the farthest of the known mistakes that pass; at most 1, or they would fail.
    """
    where = f"{distance.test}, {distance.bound}"
    if distance.error > FARTHEST_RIGHT:
        yield (
            f"{where}: {distance.by} is {distance.error:.3g} tolerances away, which is right and "
            f"should be within {FARTHEST_RIGHT:g}. Widen the tolerance."
        )
    if distance.anchor < 1 / LIMIT:
        yield (
            f"{where} is {1 / max(distance.anchor, 1e-9):.0f} times what right answers need, "
            f"more than {LIMIT:g}. Tighten it; "
            "if it spares the mistakes of another test, say how much."
        )
    spared = distance.spared / distance.tolerance
    if spared > SPARED * through:
        yield (
            f"{where} says that it spares an error of {spared:.3g} tolerances, but no known "
            "mistake comes near that. Say what is really needed."
        )


def _let_through(proof: Proof) -> dict[tuple[str, str], float]:
    """For every bound, the farthest of the faults that pass a test."""
    farthest: dict[tuple[str, str], float] = {}
    for (_, test), (failed, measured) in proof.judged.items():
        for one in measured if not failed else ():
            ratio = one.error / one.tolerance
            if ratio <= 1:
                key = (test, one.bound)
                farthest[key] = max(farthest.get(key, 0.0), ratio)
    return farthest


def _nearest(proof: Proof, fault: str, test: str) -> float | None:
    """How far beyond its bound a fault lies in a test that it fails by a number."""
    failed, measured = proof.judged.get((fault, test), (False, []))
    ratios = [one.error / one.tolerance for one in measured]
    return max(ratios) if failed and ratios and max(ratios) > 1 else None
