"""What can be chosen: ways that come to the same, and wrong choices that do not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

T = TypeVar("T")
Choose = Callable[[Sequence[T]], T]  # the plainest way comes first


@dataclass(frozen=True)
class Wrong:
    """A wrong choice. No program makes two about the same step."""

    step: str
    name: str  # of the fault in the dictionary, if it is `known`
    known: bool = True
    only_form: bool = False  # looked through by every test but one, and by the diagnosis
    ways: tuple[str, ...] = ()  # ways of organising the program in which it can be made; () for all


class Clashes:
    """Pairs of wrong choices that undo each other, come to another one, or cannot be written."""

    def __init__(self, *groups: tuple[str, str]) -> None:
        self.pairs = {
            frozenset((one, other))
            for left, right in groups
            for one in left.split()
            for other in right.split()
        }

    def allow(self, chosen: Collection[Wrong]) -> bool:
        pairs = list(combinations(chosen, 2))
        return not any(
            one.step == other.step or frozenset((one.name, other.name)) in self.pairs
            for one, other in pairs
        ) and (not any(w.ways for w in chosen) or bool(common_ways(chosen)))


def common_ways(chosen: Iterable[Wrong], of: Sequence[str] = ()) -> list[str]:
    """The ways of organising a program in which all these can be made, in their order in `of`."""
    limits = [wrong.ways for wrong in chosen if wrong.ways]
    ways = of or (limits[0] if limits else ())
    return [way for way in ways if all(way in limit for limit in limits)]


def choose_wrong(
    choose: Choose, known: Sequence[Wrong], clashes: Clashes, most: int
) -> tuple[Wrong, ...]:
    """One up to `most` wrong choices that are independent of each other."""
    chosen: tuple[Wrong, ...] = ()
    for _ in range(choose(range(1, most + 1))):
        left = [wrong for wrong in known if clashes.allow((*chosen, wrong))]
        if left:
            chosen += (choose(left),)
    return chosen


def indent(lines: Iterable[str], by: int) -> str:
    return "".join(" " * by + line + "\n" for line in lines)
