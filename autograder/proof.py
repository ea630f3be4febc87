"""What the fault dictionary proves about the graded tests.

Every known mistake, and every combination of them that is tabulated, must be caught. Single
mistakes are programs that the tests really run on. For combinations, the test about the whole
answer runs once, on a program that works out what *every* combination would answer to the same
calls, and each must lie beyond the tolerance. Where that test looks at parts of the answer only,
it really runs on every combination, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from autograder.charges import Charges
from autograder.fault_table import AT_ONCE
from autograder.faults import OUTPUT, Dictionary, State, combinations, simulate
from autograder.session import GradedTest, take_measurements


@dataclass
class Proof:
    """What was found for one exercise."""

    exercise: str
    faults: int = 0
    entries: int = 0
    caught: int = 0
    distinct: int = 0  # answers to the probe that can be told apart, the right one among them
    charged: dict[str, list[str]] = field(default_factory=dict)  # fault id to tests that charge it
    problems: list[str] = field(default_factory=list)
    # (fault id, test) to how it was judged by numbers, and whether it failed
    judged: dict[tuple[str, str], tuple[bool, list[Any]]] = field(default_factory=dict)


def prove(dictionary: Dictionary, tests: Sequence[GradedTest]) -> Proof:
    """Runs the tests on every single mistake, and the whole-answer test on all combinations."""
    charges = Charges(dictionary, tests)
    proof = Proof(dictionary.exercise)
    for fault in dictionary.faults().values():
        proof.faults += 1
        if fault.test not in charges.tests:
            proof.problems.append(f"the fault {fault.id} names {fault.test}, which does not exist.")
            continue
        failing = charges.failing((fault,))
        if fault.test not in failing:
            proof.problems.append(f"{fault.test} does not fail for the fault {fault.id}.")
        for test in charges.tests:
            measured = charges.measured[frozenset((fault.id,)), test]
            proof.judged[fault.id, test] = (test in failing, measured)
        is_gross = fault.id in dictionary.gross
        proof.charged[fault.id] = [
            test for test in failing if is_gross or test in charges.due((fault,))
        ]
    if not proof.problems:
        _prove_combinations(dictionary, charges, proof)
    return proof


def _prove_combinations(dictionary: Dictionary, charges: Charges, proof: Proof) -> None:
    rows = combinations(dictionary)[1:]
    if dictionary.whole_compares_all:
        missed = rows[~_differs(dictionary, charges, rows)]
    else:
        missed = np.array([row for row in rows if not _fails_whole(dictionary, charges, row)])
    proof.entries = proof.caught = len(rows)
    for row in missed:
        faults = dictionary.faults_of(row)
        if not charges.failing(faults) and _is_right(dictionary, row):
            proof.entries, proof.caught = proof.entries - 1, proof.caught - 1
            continue
        if not any(charges.fails(faults, fault.test) for fault in faults):
            proof.caught -= 1
            names = " with ".join(fault.id for fault in faults)
            proof.problems.append(f"no test catches {names}.")


def _is_right(dictionary: Dictionary, row: np.ndarray) -> bool:
    """Whether these faults undo each other: the answer to the probe is the right one."""
    rows = np.stack([np.zeros_like(row), row])
    answers = list(simulate(dictionary, rows, torch.float64).values())
    both = answers[0].values
    return len(answers) == 1 and bool(np.abs(both[0] - both[1]).max() < 1e-9)


def _fails_whole(dictionary: Dictionary, charges: Charges, row: np.ndarray) -> bool:
    return any(charges.fails(dictionary.faults_of(row), test) for test in dictionary.whole)


def _differs(dictionary: Dictionary, charges: Charges, rows: np.ndarray) -> np.ndarray:
    """For each combination, whether it gives the whole-answer test anything but right answers."""
    gaps: list[np.ndarray] = []

    def run(state: State) -> torch.Tensor:
        gaps.append(_gaps(dictionary, rows, state))
        return _answer_rightly(dictionary, state)

    assert dictionary.mutate is not None
    program = SimpleNamespace(**dictionary.mutate(run), sources={})
    program.without = lambda *_: program
    take_measurements()
    with torch.no_grad():
        for test in dictionary.whole:
            charges.tests[test].item.obj(program)  # type: ignore[attr-defined]
    tolerance = max(measurement.tolerance for measurement in take_measurements())
    beyond: np.ndarray = np.maximum.reduce(gaps) > tolerance
    return beyond


def _answer_rightly(dictionary: Dictionary, state: State) -> torch.Tensor:
    ways = {axis.name: axis.right for axis in dictionary.axes}
    for step in dictionary.steps:
        if OUTPUT not in state:
            state = step.run(state, *(ways[name] for name in step.axes))
    return state[OUTPUT]


def _gaps(dictionary: Dictionary, rows: np.ndarray, state: State) -> np.ndarray:
    """How far each combination's answer to `state` lies from the right one, at its worst place.

    An answer of another shape, or with a number that is none, is infinitely far away.
    """
    right = _answer_rightly(dictionary, state).reshape(-1).double().numpy()
    gaps = np.full(len(rows), np.inf)
    for first in range(0, len(rows), AT_ONCE):
        some = simulate(dictionary, rows[first : first + AT_ONCE], torch.float32, state)
        for members, values in some.values():
            if values.shape[1] == right.size:
                with np.errstate(all="ignore"):
                    worst = np.abs(values - right).max(axis=1)
                gaps[first + members] = np.where(np.isfinite(worst), worst, np.inf)
    return gaps
