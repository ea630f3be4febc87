"""What a student is told, before it is put into any format.

This is an allow-list: only what is copied into these classes can reach a student. A
hidden test gives its title, its verdict and its message; no test gives `staff_message`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from autograder.assignment import Assignment
from autograder.plaintext import clean, clean_line
from autograder.results import Result, TestResult, format_points, sum_points

VERDICT_WORDS = {
    "passed": "right",
    "failed": "not right yet",
    "raised": "stopped with an error",
    "timed_out": "took too long",
    "out_of_memory": "used too much memory",
    "crashed": "ended its process",
    "missing": "not written yet",
    "skipped": "not judged yet",
    "grader_error": "could not be judged",
}


@dataclass(frozen=True)
class Finding:
    """Tests of one exercise that failed in the same way, and what to say about it."""

    verdict: str  # in words
    titles: list[str]
    points: str  # what there is to gain
    message: str


@dataclass(frozen=True)
class Part:
    """One exercise: what to fix first, then the rest, then what was right."""

    title: str
    file: str
    score: str
    max_score: str
    diagnoses: list[str]
    is_carried_forward: bool
    findings: list[Finding]
    waiting: Finding | None  # tests that an earlier one decides
    right: list[str]


@dataclass(frozen=True)
class Feedback:
    """Everything that a student is told."""

    assignment: str
    student: str
    status: str
    reason: str
    score: str  # empty when none is published
    max_score: str
    parts: list[Part] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_perfect(self) -> bool:
        return bool(self.score) and self.score == self.max_score


def make_feedback(result: Result, assignment: Assignment, notes: Sequence[str] = ()) -> Feedback:
    """Choose and order what a student is told; `notes` are intake's, about their files."""
    reason = result.reason
    if result.status == "grader_error":  # staff find the cause in result.json
        reason = "The grader failed, not you. Nothing is scored until your teachers have mended it."
    return Feedback(
        assignment=clean_line(assignment.title),
        student=clean_line(result.student),
        status=result.status,
        reason=clean(reason, 2000),
        score="" if result.score is None else format_points(result.score),
        max_score=format_points(result.max_score),
        parts=_make_parts(result, assignment) if result.status == "graded" else [],
        notes=[clean_line(note, 300) for note in notes],
    )


def _make_parts(result: Result, assignment: Assignment) -> list[Part]:
    parts = []
    for scored in result.exercises:
        exercise = assignment.exercise(scored.id)
        tests = [test for test in result.tests if test.exercise == scored.id]
        skipped = [test for test in tests if test.verdict == "skipped"]
        wrong = [test for test in tests if test.verdict not in ("passed", "skipped")]
        diagnoses = [d.text for d in result.diagnosis if d.exercise == scored.id]
        parts.append(
            Part(
                title=clean_line(exercise.title),
                file=exercise.file,
                score="" if scored.score is None else format_points(scored.score),
                max_score=format_points(scored.max_score),
                diagnoses=[clean(text, 1000) for text in diagnoses],
                is_carried_forward=scored.id in result.carried_forward,
                findings=_group(wrong),
                waiting=_find(skipped) if skipped else None,
                # A passed test with a message was not charged; that is not to say it was right.
                right=[
                    clean_line(test.title)
                    for test in tests
                    if test.verdict == "passed" and not test.message
                ],
            )
        )
    return parts


def _group(tests: list[TestResult]) -> list[Finding]:
    """Put tests together that say the same; the tests' order is basic to subtle, and stays."""
    groups: dict[tuple[str, str], list[TestResult]] = {}
    for test in tests:
        groups.setdefault((test.verdict, test.message), []).append(test)
    return [_find(group) for group in groups.values()]


def _find(tests: list[TestResult]) -> Finding:
    return Finding(
        verdict=VERDICT_WORDS[tests[0].verdict],
        titles=[clean_line(test.title) for test in tests],
        points=format_points(sum_points(test.max_points for test in tests)),
        message=clean(tests[0].message).strip("\n"),
    )
