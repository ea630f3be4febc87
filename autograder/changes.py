"""What has changed between two gradings of a class: whose marks, and which tests changed them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from autograder import results
from autograder.errors import KitError
from autograder.plaintext import clean_line
from autograder.results import InvalidResult, Result, TestResult, format_points


@dataclass(frozen=True)
class TestChange:
    """A test that says something else than before."""

    __test__ = False  # the name is a noun of ours, not a class for pytest to collect

    id: str
    old: str  # the verdict, or "not there"
    new: str
    gain: Decimal  # points, negative when lost


@dataclass(frozen=True)
class StudentChange:
    """A student whose mark, status or verdicts are others than before."""

    student: str
    old: str  # the score, or the status where there is none
    new: str
    gain: Decimal | None  # None where one of the two has no score
    tests: list[TestChange] = field(default_factory=list)

    @property
    def is_marked_otherwise(self) -> bool:
        return self.old != self.new


@dataclass(frozen=True)
class Changes:
    """The difference between two gradings."""

    students: list[StudentChange]
    added: list[str]  # only in the new one
    removed: list[str]  # only in the old one
    unchanged: int


def compare(old: Path, new: Path) -> Changes:
    """Compare two output folders of grading, or two result.json.

    Raises:
        KitError: nothing graded in one of them, a damaged result, or different assignments.
    """
    before, after = read_results(old), read_results(new)
    assignments = {result.assignment for result in (*before.values(), *after.values())}
    if len(assignments) > 1:
        raise KitError(f"these are of different assignments: {', '.join(sorted(assignments))}.")
    both = sorted(before.keys() & after.keys())
    changed = [_compare(before[student], after[student]) for student in both]
    students = [change for change in changed if change.is_marked_otherwise or change.tests]
    return Changes(
        students=students,
        added=sorted(after.keys() - before.keys()),
        removed=sorted(before.keys() - after.keys()),
        unchanged=len(both) - len(students),
    )


def read_results(path: Path) -> dict[str, Result]:
    """Return the results in an output folder, or the one in a file, by student.

    Raises:
        KitError: nothing graded there, or a damaged result.
    """
    files = [path] if path.is_file() else sorted(path.glob("*/result.json"))
    if not files:
        raise KitError(f"{path} holds no results. Name a folder that was written by grading.")
    found: dict[str, Result] = {}
    for file in files:
        try:
            result = results.decode(file.read_bytes())
        except OSError as error:
            raise KitError(f"{file} cannot be read: {error.strerror}.") from error
        except InvalidResult as error:
            raise KitError(f"{file} is no result, or a damaged one: {error}") from error
        found[result.student] = result
    return found


def _compare(old: Result, new: Result) -> StudentChange:
    gain = None if old.score is None or new.score is None else new.score - old.score
    return StudentChange(
        old.student, _show(old), _show(new), gain, list(_compare_tests(old.tests, new.tests))
    )


def _show(result: Result) -> str:
    if result.score is None:
        return result.status.replace("_", " ")
    return f"{format_points(result.score)} of {format_points(result.max_score)}"


def _compare_tests(old: list[TestResult], new: list[TestResult]) -> Iterator[TestChange]:
    before = {test.id: test for test in old}
    after = {test.id: test for test in new}
    for name in dict.fromkeys([*before, *after]):
        earlier, later = before.get(name), after.get(name)
        was = (earlier.verdict, earlier.points, earlier.max_points) if earlier else None
        now = (later.verdict, later.points, later.max_points) if later else None
        if was != now:
            gain = (later.points if later else Decimal(0)) - (
                earlier.points if earlier else Decimal(0)
            )
            yield TestChange(
                clean_line(name),
                earlier.verdict if earlier else "not there",
                later.verdict if later else "not there",
                gain,
            )


def show_gain(gain: Decimal) -> str:
    """Return points with their sign.

    >>> show_gain(Decimal("2.50")), show_gain(Decimal(-1)), show_gain(Decimal(0))
    ('+2.5', '-1', '+0')
    """
    return f"{'-' if gain < 0 else '+'}{format_points(abs(gain))}"
