"""How an assignment declares its known mistakes, and what all their combinations would answer.

A *probe* runs a submission once, with fixed weights on one small input. Whatever can go wrong is
split into *axes* that do not depend on each other (the divisor, the softmax, ...); each axis has a
right way and a number of *faults*. A chain of *steps* computes the probe's answer for any
combination of them, for many at a time, and shares what they have in common.

This module knows no assignment: `solutions/<id>/faults/` holds the axes, in a mapping
`DICTIONARIES` from exercise id to `Dictionary`.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import torch

from autograder.errors import KitError

State = dict[str, torch.Tensor]
"""Partial results. The first axis of every tensor counts combinations; all have the same length."""

OUTPUT = "output"
"""The key under which a step leaves the answer. No later step touches a state that has it."""


def unchanged(tensor: torch.Tensor) -> torch.Tensor:
    """The right way of an axis whose faults put something in that does not belong there."""
    return tensor


@dataclass(frozen=True)
class Fault:
    """One known mistake."""

    id: str
    sentence: str  # for the student; neither capital nor full stop, since it joins others
    hint: str  # a question that leads there
    test: str  # id of the graded test about this mechanism
    does: Any  # what its step gets in place of the right way
    cost: int = 1  # its share of `Dictionary.budget` in a combination; more for rare faults


@dataclass(frozen=True)
class Axis:
    """Ways to do one thing; `right` is what the step gets when nothing is wrong."""

    name: str
    right: Any
    faults: tuple[Fault, ...]

    def ways(self) -> list[Any]:
        """The right way first, then one for each fault."""
        return [self.right, *(fault.does for fault in self.faults)]


@dataclass(frozen=True)
class Step:
    """`run(state, *ways)` with one way for each axis named; returns the next state."""

    axes: tuple[str, ...]
    run: Callable[..., State]


@dataclass(frozen=True)
class Dictionary:
    """The known mistakes of one exercise."""

    exercise: str
    axes: tuple[Axis, ...]
    steps: tuple[Step, ...]
    start: Callable[[torch.dtype], State]  # inputs; every tensor has a first axis of 1
    probe: Callable[[Any], Any]  # runs a submission; raises or returns None where that fails
    # From a function that runs the steps: what a submission that computes so would define.
    mutate: Callable[[Callable[[State], torch.Tensor]], dict[str, Any]] | None = None
    whole_compares_all: bool = True  # whether these compare every number of every answer
    whole: tuple[str, ...] = ()  # ids of the tests about the whole answer: every mistake fails them
    # Faults that leave out several steps at once: every test about one of these charges, too.
    gross: tuple[str, ...] = ()
    # Faults that hardly change a number, such as rounding: not far from right in any test.
    slight: tuple[str, ...] = ()
    budget: int = 4  # combinations are tabulated whose costs add up to at most this
    tolerance: float = 2e-5  # relative to 1 + the largest number in the answer
    sources: tuple[Path, ...] = field(default=(), compare=False)  # files that the table depends on

    def faults(self) -> dict[str, Fault]:
        """Every fault by its id."""
        return {fault.id: fault for axis in self.axes for fault in axis.faults}

    def faults_of(self, combination: np.ndarray) -> tuple[Fault, ...]:
        """The faults in one row of `combinations`."""
        chosen = zip(self.axes, combination.tolist(), strict=True)
        return tuple(axis.faults[level - 1] for axis, level in chosen if level)


def load_dictionaries(folder: Path) -> dict[str, Dictionary]:
    """The dictionaries declared in the package or module `folder` / `faults`, by exercise.

    An assignment without one gets an empty mapping.

    Raises:
        KitError: a declaration that cannot be used.
    """
    package, module = folder / "faults" / "__init__.py", folder / "faults.py"
    path = package if package.is_file() else module
    if not path.is_file():
        return {}
    name = f"faults_of_{folder.name}"
    search = [str(package.parent)] if path == package else None
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=search)
    if spec is None or spec.loader is None:
        raise KitError(f"{path} cannot be read.")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded  # a package's relative imports need it there
    spec.loader.exec_module(loaded)
    declared = getattr(loaded, "DICTIONARIES", None)
    if not isinstance(declared, dict):
        raise KitError(f"{path}: no mapping DICTIONARIES in it.")
    sources = tuple(sorted(package.parent.rglob("*.py"))) if path == package else (path,)
    for dictionary in declared.values():
        check_declaration(dictionary, path)
    return {name: replace(dictionary, sources=sources) for name, dictionary in declared.items()}


def check_declaration(dictionary: Dictionary, path: Path) -> None:
    """KitError when two faults share an id or a step reads an axis that does not exist."""
    ids = [fault.id for axis in dictionary.axes for fault in axis.faults]
    unknown = sorted({*dictionary.gross, *dictionary.slight} - set(ids))
    if unknown:
        raise KitError(f"{path}: {dictionary.exercise} has no fault called {unknown[0]!r}.")
    twice = sorted({i for i in ids if ids.count(i) > 1})
    if twice:
        raise KitError(f"{path}: {dictionary.exercise} has two faults called {twice[0]!r}.")
    names = {axis.name for axis in dictionary.axes}
    read = {name for step in dictionary.steps for name in step.axes}
    if names != read:
        odd = sorted(names ^ read)[0]
        raise KitError(
            f"{path}: {dictionary.exercise}: the axis {odd!r} must be declared and read by a step."
        )


def combinations(dictionary: Dictionary) -> np.ndarray:
    """Every combination within the budget: (combinations, axes), 0 for right, else fault number.

    Rows with fewer faults come first; row 0 is the right answer.
    """
    rows = np.zeros((1, 0), dtype=np.int16)
    spent = np.zeros(1, dtype=np.int64)
    for axis in dictionary.axes:
        costs = np.array([0, *(fault.cost for fault in axis.faults)])
        total = spent[:, None] + costs
        row, level = np.nonzero(total <= dictionary.budget)
        rows = np.concatenate([rows[row], level[:, None].astype(np.int16)], axis=1)
        spent = total[row, level]
    order = np.argsort((rows > 0).sum(axis=1), kind="stable")
    return np.ascontiguousarray(rows[order])


class Answers(NamedTuple):
    """What some combinations answer, all in the same shape."""

    members: np.ndarray  # (n,) which rows of `combinations`
    values: np.ndarray  # (n, numbers in an answer)


def simulate(
    dictionary: Dictionary, rows: np.ndarray, dtype: torch.dtype, start: State | None = None
) -> dict[tuple[int, ...], Answers]:
    """The answers of `rows`, to the probe or to `start`, by their shape without axes of length 1.

    Combinations that agree in all that the steps so far have read share one partial result, and
    each step runs once for all partial results that it treats alike.
    """
    position = {axis.name: number for number, axis in enumerate(dictionary.axes)}
    ways = [axis.ways() for axis in dictionary.axes]
    blocks: list[State] = [dictionary.start(dtype) if start is None else start]
    # Where each combination's partial result is: a block, and a row of that block.
    where = np.zeros((len(rows), 2), dtype=np.int64)
    for step in dictionary.steps:
        columns = [position[name] for name in step.axes]
        keys, inverse = _unique(np.concatenate([where, rows[:, columns]], axis=1))
        # A task is one block and one way for each axis; it covers many partial results.
        tasks, task_of = _unique(np.delete(keys, 1, axis=1))
        made: dict[Any, list[State]] = {}
        placed = np.zeros((len(keys), 2), dtype=np.int64)
        offsets: dict[Any, int] = {}
        labels: dict[Any, int] = {}
        by_task = np.argsort(task_of, kind="stable")
        members_of = np.split(by_task, np.cumsum(np.bincount(task_of))[:-1])
        for (block, *levels), members in zip(tasks.tolist(), members_of, strict=True):
            state = {name: tensor[keys[members, 1]] for name, tensor in blocks[block].items()}
            if OUTPUT not in state:
                chosen = zip(columns, levels, strict=True)
                state = step.run(state, *(ways[column][level] for column, level in chosen))
                state = {OUTPUT: state[OUTPUT]} if OUTPUT in state else state
            signature = tuple((name, state[name].shape[1:]) for name in sorted(state))
            made.setdefault(signature, []).append(state)
            placed[members, 0] = labels.setdefault(signature, len(labels))
            first = offsets.setdefault(signature, 0)
            placed[members, 1] = np.arange(first, first + len(members))
            offsets[signature] = first + len(members)
        blocks = [
            {name: torch.cat([state[name] for state in states]) for name in states[0]}
            for states in made.values()
        ]
        where = placed[inverse]
    found: dict[tuple[int, ...], list[tuple[np.ndarray, np.ndarray]]] = {}
    for number, block in enumerate(blocks):
        members = np.nonzero(where[:, 0] == number)[0]
        output = block[OUTPUT][where[members, 1]]
        shape = tuple(n for n in output.shape[1:] if n != 1)
        found.setdefault(shape, []).append((members, output.reshape(len(members), -1).numpy()))
    return {
        shape: Answers(*(np.concatenate(part) for part in zip(*parts, strict=True)))
        for shape, parts in found.items()
    }


def mutant(dictionary: Dictionary, *ids: str) -> SimpleNamespace:
    """A submission that has these faults, of different axes, and no others.

    It runs in any size, so that the graded tests can be tried on it.
    """
    known = {fault.id for axis in dictionary.axes for fault in axis.faults}
    if dictionary.mutate is None or not known.issuperset(ids):
        raise KitError(
            f"{dictionary.exercise}: no wrong program can be made with {', '.join(ids)}."
        )
    ways = {axis.name: axis.right for axis in dictionary.axes}
    for axis in dictionary.axes:
        for fault in axis.faults:
            if fault.id in ids:
                ways[axis.name] = fault.does

    def run(state: State) -> torch.Tensor:
        for step in dictionary.steps:
            if OUTPUT not in state:
                state = step.run(state, *(ways[name] for name in step.axes))
        return state[OUTPUT]

    made = SimpleNamespace(**dictionary.mutate(run), sources={})
    made.without = lambda *_: made
    return made


def _unique(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows of small non-negative integers, and for each row which of them it is."""
    code = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T.astype(np.int64):
        code = code * (int(column.max(initial=0)) + 1) + column
    _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    return rows[first], inverse.reshape(-1)
