"""The grade cells of notebooks: which test is which cell, wherever notebooks are graded.

A cell is named for the place of its test among the public or the hidden tests of its exercise,
so that its name tells nothing of a hidden test.
"""

from collections.abc import Iterator, Sequence

from autograder.results import TestResult


def cell_of(exercise: str, visibility: str, number: int) -> str:
    """Return the name of a test's grade cell; `number` counts from 1 within its kind.

    >>> cell_of("layer", "hidden", 3)
    'layer-hidden-3'
    """
    return f"{exercise}-{visibility}-{number}"


def name_cells(tests: Sequence[TestResult]) -> Iterator[tuple[str, TestResult]]:
    """Yield each test of a result with the name of its grade cell."""
    counts: dict[tuple[str, str], int] = {}
    for test in tests:
        kind = (test.exercise, test.visibility)
        counts[kind] = counts.get(kind, 0) + 1
        yield cell_of(*kind, counts[kind]), test
