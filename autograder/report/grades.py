r"""grades.csv: one row a student, below a row of maxima. A blank score is not a zero.

The file is UTF-8 with `\n` and without a byte order mark, which programs would take for a
part of the first column's name. Excel has to be told so: Data, From Text/CSV, UTF-8.
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from autograder.assignment import Assignment
from autograder.plaintext import clean_line
from autograder.report.escaping import defuse_cell
from autograder.results import Result, format_points

MAXIMUM = "MAXIMUM"
PENDING = "pending"  # in the class, not graded yet
ABSENT = "absent"  # on the roster, and nothing was handed in


@dataclass(frozen=True)
class Row:
    """One student of the class: their result, once there is one, and how late they were."""

    student: str
    result: Result | None
    late: str = ""
    is_absent: bool = False

    @property
    def status(self) -> str:
        if self.result is None:
            return ABSENT if self.is_absent else PENDING
        return self.result.status

    @property
    def score(self) -> Decimal | None:
        return None if self.result is None else self.result.score

    @property
    def scores(self) -> Mapping[str, Decimal | None]:
        return {} if self.result is None else {e.id: e.score for e in self.result.exercises}


def render_grades(assignment: Assignment, rows: list[Row]) -> str:
    """Return grades.csv. Write it as UTF-8 with newline=""."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    exercises = assignment.exercises
    maximum = format_points(assignment.points)
    writer.writerow(["student", "score", "max_score", "status", "late", *(e.id for e in exercises)])
    writer.writerow(
        [MAXIMUM, maximum, maximum, "", "", *(format_points(e.points) for e in exercises)]
    )
    for row in rows:
        cells = [row.student, _format(row.score), maximum, row.status, row.late]
        cells += [_format(row.scores.get(exercise.id)) for exercise in exercises]
        writer.writerow([defuse_cell(clean_line(cell)) for cell in cells])
    return stream.getvalue()


def _format(score: Decimal | None) -> str:
    return "" if score is None else format_points(score)
