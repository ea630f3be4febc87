"""The marks of a class: of every student, with what lateness costs shown beside the score."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import msgspec

from autograder import results
from autograder.assignment import Assignment
from autograder.errors import KitError
from autograder.late_students import assess_student, check_extensions
from autograder.lateness import Lateness, read_time
from autograder.results import InvalidResult, Result
from autograder.roster import Roster, Student, restore_roster

INTAKE = "intake.json"
ABSENT = "absent"  # on the roster, and nothing was handed in
PENDING = "pending"  # handed in, not graded yet
PLACES = 2  # decimals that gradebooks keep


class Record(msgspec.Struct):
    """What intake.json says of a submission, as far as marks need it."""

    student: str
    original: str = ""
    origin: str = ""
    notes: list[str] = []
    members: list[str] = []
    submitted: str = ""
    is_marked_late: bool = False
    canvas_id: str = ""
    moodle_id: str = ""
    feedback_name: str = ""


class _Intake(msgspec.Struct):
    assignment: str
    submissions: list[Record]
    layout: str = ""
    roster: list[dict[str, str]] = []


@dataclass(frozen=True)
class Mark:
    """One student's mark. `final` is exact; it is rounded where it is written."""

    student: Student
    record: Record | None  # None when nothing was handed in
    result: Result | None
    late: Lateness = field(default_factory=Lateness)

    @property
    def id(self) -> str:
        return self.student.id

    @property
    def status(self) -> str:
        if self.record is None:
            return ABSENT
        return PENDING if self.result is None else self.result.status

    @property
    def score(self) -> Decimal | None:
        return None if self.result is None else self.result.score

    @property
    def penalty(self) -> Decimal:
        """The points that lateness costs."""
        if self.result is None or self.result.score is None:
            return Decimal(0)
        return self.late.penalise(self.result.score, self.result.max_score)

    @property
    def final(self) -> Decimal | None:
        return None if self.score is None else self.score - self.penalty

    def settle(self, *, is_missing_zero: bool) -> Decimal | None:
        """Return what a table gets: for who has handed in nothing a zero, if that is wanted."""
        if self.status == ABSENT and is_missing_zero:
            return Decimal(0)
        return self.final

    @property
    def reason(self) -> str:
        """Why there is no score, in words; empty when there is one."""
        if self.score is not None:
            return ""
        if self.status == ABSENT:
            return "nothing was handed in"
        if self.status == PENDING:
            return "not graded yet"
        return f"{self.status.replace('_', ' ')}: {self.result.reason if self.result else ''}"


def read_marks(folder: Path, assignment: Assignment, roster: Roster | None = None) -> list[Mark]:
    """Read the marks of a graded class; `roster` takes the place of the one it was graded with.

    Raises:
        KitError: the folder holds no graded class of this assignment, or is damaged.
    """
    intake = _read_intake(folder, assignment)
    known = restore_roster(intake.roster) if roster is None else roster
    check_extensions(known, assignment.deadline)
    marks: list[Mark] = []
    for record in intake.submissions:
        result = _read_result(folder / record.student / "result.json", assignment, record.student)
        marks += [
            _make_mark(assignment, who, record, result) for who in _list_owners(record, known)
        ]
    covered = {mark.id for mark in marks}
    marks += [Mark(who, None, None) for who in known.students if who.id not in covered]
    return sorted(marks, key=lambda mark: mark.id)


def _read_intake(folder: Path, assignment: Assignment) -> _Intake:
    path = folder / INTAKE
    try:
        intake = msgspec.json.decode(path.read_bytes(), type=_Intake)
    except FileNotFoundError:
        raise KitError(
            f"{folder} holds no graded class. Grade it first: autograder grade {assignment.id}"
            f" SUBMISSIONS --out {folder}"
        ) from None
    except OSError as error:
        raise KitError(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise KitError(f"{path} is damaged ({error}). Grade the class again.") from error
    if intake.assignment != assignment.id:
        raise KitError(
            f"{folder} holds marks of {intake.assignment!r}, not of {assignment.id!r}."
            " Name the folder with --grades."
        )
    return intake


def _read_result(path: Path, assignment: Assignment, student: str) -> Result | None:
    try:
        result = results.decode(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KitError(f"{path} cannot be read: {error.strerror}.") from error
    except InvalidResult as error:
        raise KitError(f"{path} is damaged ({error}). Grade {student} again.") from error
    if (result.assignment, result.student) != (assignment.id, student):
        raise KitError(f"{path} is the result of {result.student!r} in {result.assignment!r}.")
    return result


def _list_owners(record: Record, roster: Roster) -> Iterator[Student]:
    """Yield everybody whose work a submission is."""
    for member in record.members:
        yield roster.by_id.get(member, Student(member))
    if not record.members:
        yield Student(
            record.student,
            name=record.original if record.canvas_id or record.moodle_id else "",
            canvas_id=record.canvas_id,
            moodle_id=record.moodle_id,
        )


def _make_mark(assignment: Assignment, who: Student, record: Record, result: Result | None) -> Mark:
    late = assess_student(
        assignment.deadline,
        read_time(record.submitted or who.submitted),
        who,
        is_marked_late=record.is_marked_late,
    )
    return Mark(who, record, result, late)


def round_mark(value: Decimal, maximum: Decimal, scale: Decimal) -> Decimal:
    """Return `value` of `maximum` as points of `scale`: exact, rounded once, halves upward."""
    exact = Fraction(value) * Fraction(scale) / Fraction(maximum)
    shifted = exact * 10**PLACES
    return Decimal(
        (2 * shifted.numerator + shifted.denominator) // (2 * shifted.denominator)
    ).scaleb(-PLACES)
