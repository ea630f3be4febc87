"""What grading says about one submission: the one currency everything else is rendered from.

`result.json` is a `Result`, written so that the same result is always the same bytes:
UTF-8, keys in the order of the fields below, exact decimals as strings, no times. It
holds `staff_message`s, so it is for staff; what a student may see is rendered from it.

This module imports nothing of ours: it is the contract that other programs rely on.
"""

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Literal, get_args

import msgspec

SCHEMA_VERSION: Literal[1] = 1

Verdict = Literal[
    "passed",
    "failed",  # judged, and wrong
    "raised",  # the student's code raised an exception
    "timed_out",
    "out_of_memory",
    "crashed",  # the process of the student's code died or broke the protocol
    "missing",  # not written yet, or no such file
    "skipped",  # an earlier test already decides; never counted as failed twice
    "grader_error",  # our fault: no score is published
]
Status = Literal["graded", "ungradable", "grader_error"]
Visibility = Literal["public", "hidden"]

VERDICTS: tuple[str, ...] = get_args(Verdict)


class InvalidResult(ValueError):
    """Bytes that are not a result, or a result whose numbers contradict each other."""


def exact(value: Decimal | str | int) -> Decimal:
    """Return points as a decimal in its one form: finite, not negative, no trailing zeros.

    >>> exact("82.50"), exact(Decimal("1E+2"))
    (Decimal('82.5'), Decimal('100'))

    Raises:
        ValueError: not a number, negative, infinite, or a float, which is never exact.
    """
    if isinstance(value, bool) or not isinstance(value, (Decimal, str, int)):
        raise ValueError(f'points are exact decimals, such as "2.5", not {value!r}')
    try:
        number = Decimal(value)
    except InvalidOperation:
        raise ValueError(f'points are exact decimals, such as "2.5", not {value!r}') from None
    if not number.is_finite() or number < 0 or number.adjusted() > 9:
        raise ValueError(f"points are finite and not negative, not {value!r}")
    return Decimal(format_points(number))


def format_points(points: Decimal) -> str:
    """Write points for people and files: no exponent, no trailing zeros, no minus zero."""
    text = format(points, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("", "-0") else text


def sum_points(points: Iterable[Decimal]) -> Decimal:
    """Add points exactly."""
    return exact(sum(points, Decimal(0)))


class TestResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The verdict of one test. Points may be given as decimals or as strings."""

    __test__ = False  # the name is a noun of ours, not a class for pytest to collect

    id: str  # "<exercise>::<function>"
    exercise: str
    title: str
    visibility: Visibility
    verdict: Verdict
    points: Decimal
    max_points: Decimal
    message: str = ""  # for the student
    staff_message: str = ""  # inputs, got, expected: never shown to a student

    def __post_init__(self) -> None:
        for field in ("points", "max_points"):
            msgspec.structs.force_setattr(self, field, exact(getattr(self, field)))
        if self.verdict not in VERDICTS:
            raise ValueError(f"{self.id}: there is no verdict {self.verdict!r}")
        if self.points > self.max_points:
            raise ValueError(f"{self.id}: more points than there are")
        if self.points and self.verdict != "passed":
            raise ValueError(f"{self.id}: points for a test that is {self.verdict}")


class Diagnosis(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The known mistakes that explain what an exercise computes, and a sentence for the student."""

    exercise: str
    faults: list[str]
    text: str


class Judgement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the judge says about one submission's files; grading makes a `Result` of it."""

    tests: list[TestResult]
    diagnosis: list[Diagnosis] = []
    carried_forward: list[str] = []  # exercises judged again with right values supplied
    flags: list[str] = []
    isolation: str = ""
    pictures: bytes = b""  # a pictures.json, or nothing; not part of the result
    seconds: float = 0.0  # that judging took; not part of the result


class ExerciseResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The sum over an exercise's tests. `score` is None where none is published."""

    id: str
    score: Decimal | None
    max_score: Decimal

    def __post_init__(self) -> None:
        _make_exact(self)


class Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Everything about one submission. `score` is None unless the status is "graded"."""

    schema_version: Literal[1] = SCHEMA_VERSION
    assignment: str
    student: str
    status: Status
    reason: str  # why, when not graded
    score: Decimal | None
    max_score: Decimal
    exercises: list[ExerciseResult]
    tests: list[TestResult]
    diagnosis: list[Diagnosis]
    carried_forward: list[str]
    flags: list[str]
    isolation: str  # "full", "process", or "" when nothing was run
    digest: str

    def __post_init__(self) -> None:
        _make_exact(self)


def _make_exact(part: ExerciseResult | Result) -> None:
    if part.score is not None:
        msgspec.structs.force_setattr(part, "score", exact(part.score))
    msgspec.structs.force_setattr(part, "max_score", exact(part.max_score))
    if part.score is not None and part.score > part.max_score:
        raise ValueError("a score above its maximum")


def score_exercises(
    maxima: dict[str, Decimal], tests: list[TestResult], *, is_published: bool
) -> list[ExerciseResult]:
    """Sum the tests of each exercise, in the order of `maxima` (exercise id to points)."""
    return [
        ExerciseResult(
            id=exercise,
            score=sum_points(t.points for t in tests if t.exercise == exercise)
            if is_published
            else None,
            max_score=maximum,
        )
        for exercise, maximum in maxima.items()
    ]


def check_sums(result: Result) -> None:
    """Hold every number of a result against the numbers it is the sum of.

    Raises:
        InvalidResult: a sum that does not add up, or a score that must not be published.
    """

    def demand(holds: bool, complaint: str) -> None:
        if not holds:
            raise InvalidResult(f"result of {result.student}: {complaint}")

    is_graded = result.status == "graded"
    has_error = any(test.verdict == "grader_error" for test in result.tests)
    demand(not (is_graded and has_error), "graded in spite of a grader_error")
    demand(is_graded == (result.score is not None), "a score exactly when graded")
    maxima = sum_points(e.max_score for e in result.exercises)
    demand(maxima == result.max_score, "the exercises' maxima do not add up")
    known = {exercise.id for exercise in result.exercises}
    demand(all(test.exercise in known for test in result.tests), "a test of no exercise")
    for exercise in result.exercises:
        demand(is_graded == (exercise.score is not None), "a score exactly when graded")
        if exercise.score is None:
            continue
        mine = [test for test in result.tests if test.exercise == exercise.id]
        gained = sum_points(test.points for test in mine)
        possible = sum_points(test.max_points for test in mine)
        demand(gained == exercise.score, f"points of {exercise.id} do not add up")
        demand(possible == exercise.max_score, f"maxima of {exercise.id} do not add up")
    if result.score is not None:
        total = sum_points(e.score for e in result.exercises if e.score is not None)
        demand(total == result.score, "the exercises' scores do not add up")


def _plain(value: object) -> object:
    """Turn structs into dicts and decimals into strings, keeping the order of the fields."""
    if isinstance(value, Decimal):
        return format_points(value)
    if isinstance(value, str):  # half a surrogate pair has no UTF-8 form
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, msgspec.Struct):
        return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def encode(value: Result | Judgement) -> bytes:
    """Write a result as indented JSON ending in a newline; equal results give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(_plain(value)), indent=2) + b"\n"


def decode(data: bytes) -> Result:
    """Read a result, strictly.

    Raises:
        InvalidResult: not JSON, not this schema, an unknown key, or sums that do not add up.
    """
    try:
        result = msgspec.json.decode(data, type=Result)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InvalidResult(f"not a result of schema {SCHEMA_VERSION}: {error}") from error
    check_sums(result)
    return result
