"""How good a dictionary of faults is: how many entries, and how far apart they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autograder.fault_table import Entries, Table

APART = 100  # different entries should be this many tolerances apart


@dataclass(frozen=True)
class Figures:
    """How good a dictionary is. Distances are in tolerances."""

    entries: int  # combinations with an answer to compare
    left_out: int  # combinations without one: not finite, or beyond float32
    distinct: int  # answers that can be told apart
    nearest: float  # smallest distance between two of those; inf when all are beyond APART
    close: list[tuple[float, list[str], list[str]]]  # nearer than APART: distance, faults, faults


def measure(table: Table) -> Figures:
    """Counts and distances, over all pairs of entries of the same shape."""
    dictionary, rows = table.dictionary, table.rows
    total = sum(len(entries.members) for entries in table.entries.values())
    merged, close = 0, []
    for entries in table.entries.values():
        first, second, distance = _near_pairs(entries)
        same = distance <= 1
        count = len(entries.members)
        merged += count - _groups(count, first[same], second[same])
        for a, b, far in zip(first[~same], second[~same], distance[~same], strict=True):
            one, other = (
                [fault.id for fault in dictionary.faults_of(rows[entries.members[n]])]
                for n in (a, b)
            )
            close.append((float(far), one, other))
    close.sort(key=lambda pair: (pair[0], len(pair[1]) + len(pair[2])))
    nearest = close[0][0] if close else float("inf")
    return Figures(total, len(rows) - total, total - merged, nearest, close)


def _near_pairs(entries: Entries) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs nearer than APART tolerances: first, second, distance in tolerances.

    Such answers have nearly the same largest number, and a tolerance is a share of that: sorted by
    its logarithm they stand close together, so only neighbours are compared.
    """
    answers, tolerances = entries.answers, entries.tolerances
    size = 1 + np.abs(answers).max(axis=0)
    order = np.argsort(size, kind="stable")
    line, reach = np.log(size[order]), 1.01 * APART * (tolerances / size)[order]
    furthest = np.maximum.accumulate(line + reach)  # how far anything up to here can reach
    nothing = np.zeros(0, dtype=np.int64)
    pairs = [(nothing, nothing, nothing.astype(np.float32))]
    for shift in range(1, len(order)):
        near = np.nonzero(line[shift:] - reach[shift:] <= furthest[:-shift])[0]
        if not len(near):
            break
        first, second = order[near], order[near + shift]
        unit = np.maximum(tolerances[first], tolerances[second])
        distance = np.zeros(len(near), dtype=np.float32)
        for numbers in answers:
            distance = np.maximum(distance, np.abs(numbers[first] - numbers[second]) / unit)
            keep = distance < APART
            if not keep.all():
                first, second, distance = first[keep], second[keep], distance[keep]
                unit = unit[keep]
            if not len(first):
                break
        pairs.append((first, second, distance))
    return tuple(np.concatenate(parts) for parts in zip(*pairs, strict=True))  # type: ignore[return-value]


def _groups(count: int, first: np.ndarray, second: np.ndarray) -> int:
    """How many groups `count` things fall into when the pairs given belong together."""
    label = np.arange(count)
    while True:
        lower = label.copy()
        np.minimum.at(lower, first, label[second])
        np.minimum.at(lower, second, label[first])
        lower = lower[lower]
        if (lower == label).all():
            return int(np.unique(label).size)
        label = lower
