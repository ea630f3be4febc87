"""A plain table for any gradebook: a row a student, what lateness costs shown beside the score."""

import csv
import io
from collections.abc import Sequence
from decimal import Decimal

from autograder.assignment import Assignment
from autograder.export.marks import Mark, round_mark
from autograder.lateness import show_time
from autograder.plaintext import clean_line
from autograder.report.escaping import defuse_cell
from autograder.results import format_points

COLUMNS = (
    "student", "name", "email", "section", "group", "status", "score", "max_score", "submitted",
    "due", "days_late", "free_days", "penalty_percent", "penalty", "mark",
)  # fmt: skip


def render_table(
    assignment: Assignment, marks: Sequence[Mark], *, is_missing_zero: bool = False
) -> str:
    """Return the table as CSV; `mark` is the score less the penalty, rounded once.

    A blank mark is not a zero: the column `status` says why there is none. `is_missing_zero`
    gives 0 to who has handed in nothing; their score stays blank.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*COLUMNS, *(exercise.id for exercise in assignment.exercises)])
    for mark in marks:
        final = mark.settle(is_missing_zero=is_missing_zero)
        cells = [*_describe(mark, assignment, final), *_list_scores(mark, assignment)]
        writer.writerow([defuse_cell(clean_line(cell, 500)) for cell in cells])
    return stream.getvalue()


def _describe(mark: Mark, assignment: Assignment, final: Decimal | None) -> list[str]:
    who, late = mark.student, mark.late
    is_handed_in = mark.record is not None
    days = "" if not is_handed_in else "unknown" if late.days is None else str(late.days)
    has_score = mark.score is not None
    return [
        who.id,
        who.name,
        who.email,
        who.section,
        who.group,
        mark.status,
        format_points(mark.score) if mark.score is not None else "",
        format_points(assignment.points),
        mark.record.submitted or who.submitted if mark.record else "",
        show_time(late.due),
        days,
        str(late.free_days) if late.free_days else "",
        format_points(late.percent) if has_score and late.percent else "",
        format_points(mark.penalty) if mark.penalty else "",
        "" if final is None else str(round_mark(final, assignment.points, assignment.points)),
    ]


def _list_scores(mark: Mark, assignment: Assignment) -> list[str]:
    scores = {e.id: e.score for e in mark.result.exercises} if mark.result else {}
    listed = [scores.get(exercise.id) for exercise in assignment.exercises]
    return ["" if score is None else format_points(score) for score in listed]
