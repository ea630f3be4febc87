"""What a student is told, before it is put into any format.

This is an allow-list: only what is copied into these classes can reach a student. A
hidden test gives its title, its verdict and its message; no test gives `staff_message`.

What to fix first comes first: exercises in the order in which they build on each other;
in each, what kept code from running before what it computes, and then basic before subtle,
which is the order of the tests.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from autograder.assignment import Assignment
from autograder.pictures import Picture
from autograder.plaintext import clean, clean_line
from autograder.report.heatmap import Figure, make_figure
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
_ERROR = re.compile(r"raised (\w+)\b.*(\(\w+\.py, line \d+: [^\n]*\))\.?$", re.DOTALL)
MANY = 3
# Until code runs, nothing else can be known of it.
_URGENCY = ("missing", "crashed", "timed_out", "out_of_memory", "raised", "failed")


@dataclass(frozen=True)
class Finding:
    """Tests of one exercise that failed in the same way, and what to say about it."""

    verdict: str  # in words
    titles: list[str]
    points: str  # what there is to gain
    message: str

    @property
    def is_broad(self) -> bool:
        """Whether its cause says more than its tests' titles, which are too many to read first."""
        return len(self.titles) > MANY and bool(self.message)

    @property
    def gist(self) -> str:
        """What there is to say in one line."""
        return clean_line(self.message.splitlines()[0], 300) if self.is_broad else self.titles[0]


@dataclass(frozen=True)
class Part:
    """One exercise: what to fix first, then the rest, then what holds."""

    id: str
    title: str
    file: str
    score: str
    max_score: str
    diagnoses: list[str]
    is_carried_forward: bool
    findings: list[Finding]
    waiting: Finding | None  # tests that an earlier one decides
    holds: list[str]  # titles of the tests that found nothing wrong
    figures: list[Figure] = field(default_factory=list)

    @property
    def is_perfect(self) -> bool:
        return self.score == self.max_score

    @property
    def is_missing(self) -> bool:
        return any(finding.verdict == VERDICT_WORDS["missing"] for finding in self.findings)

    @property
    def state(self) -> str:
        """In a word or two."""
        if self.is_perfect:
            return "right"
        return "not written yet" if self.is_missing and not self.holds else "not right yet"


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

    @property
    def first(self) -> Part | None:
        """The exercise to begin with: the first that was begun and is not right yet."""
        begun = [part for part in self.parts if not part.is_perfect and not part.is_missing]
        return next(iter([*begun, *(p for p in self.parts if not p.is_perfect)]), None)


def make_feedback(
    result: Result,
    assignment: Assignment,
    notes: Sequence[str] = (),
    pictures: Sequence[Picture] = (),
) -> Feedback:
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
        parts=_make_parts(result, assignment, pictures) if result.status == "graded" else [],
        notes=[clean_line(note, 300) for note in notes],
    )


def _make_parts(result: Result, assignment: Assignment, pictures: Sequence[Picture]) -> list[Part]:
    parts = []
    for scored in result.exercises:
        exercise = assignment.exercise(scored.id)
        tests = [test for test in result.tests if test.exercise == scored.id]
        skipped = [test for test in tests if test.verdict == "skipped"]
        wrong = [test for test in tests if test.verdict not in ("passed", "skipped")]
        diagnoses = [d.text for d in result.diagnosis if d.exercise == scored.id]
        parts.append(
            Part(
                id=scored.id,
                title=clean_line(exercise.title),
                file=exercise.file,
                score="" if scored.score is None else format_points(scored.score),
                max_score=format_points(scored.max_score),
                diagnoses=[clean(text, 1000) for text in diagnoses],
                is_carried_forward=scored.id in result.carried_forward,
                findings=_group(wrong),
                waiting=_find(skipped) if skipped else None,
                # A passed test with a message was not charged; that is not to say it was right.
                holds=[
                    clean_line(test.title)
                    for test in tests
                    if test.verdict == "passed" and not test.message
                ],
                figures=[
                    make_figure(picture) for picture in pictures if picture.exercise == scored.id
                ],
            )
        )
    return parts


def _group(tests: list[TestResult]) -> list[Finding]:
    """Put tests together that say the same, the most urgent first."""
    groups: dict[tuple[str, str], list[TestResult]] = {}
    for test in sorted(tests, key=lambda test: _URGENCY.index(test.verdict)):
        # Of one error at one place, public tests say more than hidden ones, and come first.
        error = _ERROR.search(test.message) if test.verdict == "raised" else None
        said = " ".join(error.groups()) if error else test.message
        groups.setdefault((test.verdict, said), []).append(test)
    return [_find(group) for group in groups.values()]


def _find(tests: list[TestResult]) -> Finding:
    return Finding(
        verdict=VERDICT_WORDS[tests[0].verdict],
        titles=[clean_line(test.title) for test in tests],
        points=format_points(sum_points(test.max_points for test in tests)),
        message=clean(tests[0].message).strip("\n"),
    )
