"""The numbers of a class: how scores are distributed, and how each test did.

Numbers here are for reading and rounded. Marks are exact and made elsewhere.
"""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from autograder.assignment import Assignment
from autograder.plaintext import clean_line
from autograder.report.grades import Row
from autograder.results import format_points

BARS = 10
LEAST_CLASS = 10  # students from which on a correlation says something
NOT_REACHED = {"missing", "skipped"}


@dataclass(frozen=True)
class Bar:
    """One bar of a histogram: scores from `low` to `high`, how many, and its share of the most."""

    low: str
    high: str
    count: int
    percent: int


@dataclass(frozen=True)
class Distribution:
    """How scores are spread; texts are rounded points."""

    count: int
    mean: str
    median: str
    least: str
    most: str
    full: int  # how many have everything
    bars: list[Bar]


@dataclass(frozen=True)
class TestFigures:
    """How one test did among those who were graded.

    `discrimination` is the correlation of passing the test with the points gained in all
    others (item-rest correlation), from -1 to 1; None where it cannot be had: in a small
    class, where all or none passed, or where all have the same points in the others.
    """

    __test__ = False  # for pytest: a noun of ours

    title: str
    exercise: str
    visibility: str
    points: str
    passed: int
    wrong: int
    not_reached: int
    discrimination: float | None

    @property
    def judged(self) -> int:
        return self.passed + self.wrong + self.not_reached

    @property
    def percent(self) -> int:
        return round(100 * self.passed / self.judged)

    @property
    def is_doubtful(self) -> bool:
        """Whether those who pass it do worse elsewhere: then it may be the test that is wrong.

        By more than chance would have it: two standard errors of a correlation of none.
        """
        return self.discrimination is not None and self.discrimination < -2 / self.judged**0.5


def distribute(scores: Sequence[Decimal], maximum: Decimal) -> Distribution | None:
    """Return how scores are spread over ten bars; None when there are none."""
    if not scores:
        return None
    width = maximum / BARS
    places = (min(BARS - 1, int(score / width)) if width else 0 for score in scores)
    counts = Counter(places)
    most = max(counts.values())
    return Distribution(
        count=len(scores),
        mean=round_points(statistics.mean(scores)),
        median=round_points(statistics.median(scores)),
        least=format_points(min(scores)),
        most=format_points(max(scores)),
        full=sum(score == maximum for score in scores),
        bars=[
            Bar(
                low=format_points(place * width),
                high=format_points((place + 1) * width),
                count=counts[place],
                percent=round(100 * counts[place] / most),
            )
            for place in range(BARS)
        ],
    )


def measure_tests(rows: Sequence[Row]) -> list[TestFigures]:
    """Return each test's figures, in the tests' own order; who was not graded does not count."""
    results = [row.result for row in rows if row.result and row.result.status == "graded"]
    verdicts: dict[str, list[str]] = {}
    rests: dict[str, list[float]] = {}
    about = {}
    for result in results:
        for test in result.tests:
            verdicts.setdefault(test.id, []).append(test.verdict)
            rest = (result.score or Decimal(0)) - test.points
            rests.setdefault(test.id, []).append(float(rest))
            about[test.id] = test
    figures = []
    for name, said in verdicts.items():
        passed = [float(verdict == "passed") for verdict in said]
        figures.append(
            TestFigures(
                title=clean_line(about[name].title),
                exercise=about[name].exercise,
                visibility=about[name].visibility,
                points=format_points(about[name].max_points),
                passed=said.count("passed"),
                wrong=sum(v != "passed" and v not in NOT_REACHED for v in said),
                not_reached=sum(verdict in NOT_REACHED for verdict in said),
                discrimination=correlate(passed, rests[name]),
            )
        )
    return figures


def correlate(passed: list[float], rest: list[float]) -> float | None:
    """Return Pearson's correlation, rounded to two places, or None where it says nothing."""
    if len(passed) < LEAST_CLASS or len(set(passed)) < 2 or len(set(rest)) < 2:
        return None
    return round(statistics.correlation(passed, rest), 2) + 0.0


def average_exercises(assignment: Assignment, rows: Sequence[Row]) -> list[tuple[str, str, int]]:
    """Return each exercise's title, its mean of its maximum in words, and that in percent."""
    lines = []
    for exercise in assignment.exercises:
        scores = [score for row in rows if (score := row.scores.get(exercise.id)) is not None]
        if scores and exercise.points:
            mean = statistics.mean(scores)
            words = f"{round_points(mean)} of {format_points(exercise.points)}"
            lines.append((clean_line(exercise.title), words, round(100 * mean / exercise.points)))
    return lines


def round_points(value: Decimal | float) -> str:
    """Write points with one decimal at most."""
    return format_points(Decimal(value).quantize(Decimal("0.1")))
