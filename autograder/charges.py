"""One mistake, one charge.

A wrong step can make a test fail that is about another step. When a diagnosis names the mistakes
completely, every failed test that a program with *just these mistakes* fails as well, and that is
neither the test about one of them nor the one about the whole answer, says nothing new: it is not
charged again. Whether such a program fails it is found by running it, not by a list.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch

from autograder.faults import Dictionary, Fault, mutant
from autograder.session import GradedTest, take_measurements

Faults = tuple[Fault, ...]


class Charges:
    """Knows, for one exercise, which tests fail for which mistakes; remembers what it has run."""

    def __init__(self, dictionary: Dictionary, tests: Sequence[GradedTest]) -> None:
        self.dictionary = dictionary
        self.tests = {test.id: test for test in tests if test.exercise == dictionary.exercise}
        self._fails: dict[tuple[frozenset[str], str], bool] = {}
        self.measured: dict[tuple[frozenset[str], str], list[Any]] = {}  # by the same keys

    def due(self, faults: Faults) -> set[str]:
        """The tests that charge for these mistakes."""
        return {fault.test for fault in faults} | set(self.dictionary.whole)

    def excused(self, alternatives: Sequence[Faults], failed: Iterable[str]) -> list[str]:
        """Those of the `failed` tests that would only charge the diagnosed mistakes again.

        Of several diagnoses that cannot be told apart, all must agree. A gross mistake excuses
        nothing: what it leaves out was asked for.
        """
        if any(f.id in self.dictionary.gross for faults in alternatives for f in faults):
            return []
        return [
            test
            for test in failed
            if all(
                test not in self.due(faults) and self.fails(faults, test) for faults in alternatives
            )
        ]

    def fails(self, faults: Faults, test_id: str) -> bool:
        """Whether a program with these mistakes and no others fails a test."""
        key = (frozenset(fault.id for fault in faults), test_id)
        if key not in self._fails:
            take_measurements()
            self._fails[key] = self._run(faults, test_id)
            self.measured[key] = take_measurements()
        return self._fails[key]

    def failing(self, faults: Faults) -> list[str]:
        """All tests that a program with these mistakes and no others fails."""
        return [test for test in self.tests if self.fails(faults, test)]

    def _run(self, faults: Faults, test_id: str) -> bool:
        function = getattr(self.tests[test_id].item, "obj", None)
        if function is None or self.dictionary.mutate is None:
            return False
        with _same_random_numbers():
            program = mutant(self.dictionary, *(fault.id for fault in faults))
            try:
                function(program)
            except AttributeError as error:
                # What the program does not define says nothing about it.
                return error.obj is not program
            except Exception:
                return True
        return False


@contextlib.contextmanager
def _same_random_numbers() -> Iterator[None]:
    """Random numbers of one seed inside, and those that would have come outside.

    `torch.manual_seed` would take milliseconds to remember this for devices that are not there.
    """
    state = torch.get_rng_state()
    torch.default_generator.manual_seed(0)
    try:
        yield
    finally:
        torch.set_rng_state(state)
