"""Lateness of the students of a roster: each with their own extension and late days."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from autograder.errors import KitError
from autograder.lateness import Deadline, Lateness, assess
from autograder.roster import Roster, Student

NOBODY = Student("")


def check_extensions(roster: Roster, deadline: Deadline | None) -> None:
    """Hold every extension against the deadline.

    Raises:
        KitError: one cannot be read.
    """
    if deadline is None:
        return
    for student in roster.students:
        try:
            assess(deadline, None, extension=student.extension)
        except ValueError as error:
            raise KitError(f"the roster's {student.id}: {error}.") from error


def assess_student(
    deadline: Deadline | None, submitted: datetime | None, student: Student, *, is_marked_late: bool
) -> Lateness:
    """Say how late one student is."""
    return assess(
        deadline,
        submitted,
        is_marked_late=is_marked_late,
        extension=student.extension,
        late_days=student.free_days,
    )


def describe_group(
    deadline: Deadline | None,
    submitted: datetime | None,
    members: Sequence[Student],
    *,
    is_marked_late: bool,
) -> str:
    """Return in words how late a submission is: empty when on time; by student if they differ."""
    texts: dict[str, list[str]] = defaultdict(list)
    for member in members or [NOBODY]:
        late = assess_student(deadline, submitted, member, is_marked_late=is_marked_late)
        texts[late.text].append(member.id)
    if len(texts) == 1:
        return next(iter(texts))
    return "; ".join(f"{', '.join(who)}: {text or 'on time'}" for text, who in texts.items())
