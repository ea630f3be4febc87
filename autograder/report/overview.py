"""report.html: a class at a glance, for staff."""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from autograder.assignment import Assignment
from autograder.plaintext import clean_line
from autograder.report.grades import Row
from autograder.report.pages import render_page
from autograder.results import format_points


@dataclass(frozen=True)
class Rate:
    """How many of those who were judged passed a test."""

    title: str
    exercise: str
    visibility: str
    passed: int
    judged: int

    @property
    def percent(self) -> int:
        return round(100 * self.passed / self.judged) if self.judged else 0


def render_overview(
    assignment: Assignment, rows: Sequence[Row], notes: dict[str, list[str]]
) -> str:
    """Return the class page; `notes` are intake's, by student."""
    scores = [row.score for row in rows if row.score is not None]
    faults = Counter(
        clean_line(diagnosis.text)
        for row in rows
        if row.result is not None
        for diagnosis in row.result.diagnosis
    )
    return render_page(
        "report.html.j2",
        assignment=assignment,
        maximum=format_points(assignment.points),
        rows=[_describe(assignment, row, notes.get(row.student, [])) for row in rows],
        rates=compute_rates(rows),
        faults=faults.most_common(20),
        statuses=sorted(Counter(row.status for row in rows).items()),
        mean=_round(statistics.mean(scores)) if scores else "",
        median=_round(statistics.median(scores)) if scores else "",
    )


def compute_rates(rows: Sequence[Row]) -> list[Rate]:
    """Return each test's rate, in the tests' own order; who was not graded does not count."""
    tests: dict[str, list[bool]] = {}
    about: dict[str, tuple[str, str, str]] = {}
    for row in rows:
        if row.result is None or row.result.status != "graded":
            continue
        for test in row.result.tests:
            tests.setdefault(test.id, []).append(test.verdict == "passed")
            about[test.id] = (clean_line(test.title), test.exercise, test.visibility)
    return [Rate(*about[test], sum(passed), len(passed)) for test, passed in tests.items()]


def _describe(assignment: Assignment, row: Row, notes: list[str]) -> dict[str, object]:
    result = row.result
    return {
        "student": row.student,
        "score": "" if row.score is None else format_points(row.score),
        "status": row.status,
        "late": row.late,
        "reason": "" if result is None else clean_line(result.reason, 400),
        "scores": [
            "" if (score := row.scores.get(exercise.id)) is None else format_points(score)
            for exercise in assignment.exercises
        ],
        "carried_forward": [] if result is None else result.carried_forward,
        "flags": [] if result is None else result.flags,
        "isolation": "" if result is None else result.isolation,
        "has_feedback": result is not None,
        "notes": [clean_line(note, 300) for note in notes],
    }


def _round(value: Decimal | float) -> str:
    return format_points(Decimal(value).quantize(Decimal("0.1")))
