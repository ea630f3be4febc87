"""Moodle: fills the grading worksheet that the instructor has downloaded, ready for upload.

Moodle finds a row by `Participant N` and takes a grade only where `Last modified (grade)` is as it
was: so the worksheet is filled and never made anew (moodle, `mod/assign/feedback/offline`). Its
headers are in the site's language: English is known here, others are named by options.
"""

import re
from collections.abc import Sequence
from decimal import Decimal

from markupsafe import escape

from autograder.assignment import Assignment
from autograder.errors import KitError
from autograder.export.filling import Change, Filling, Line, Policy, explain, fill, read_number
from autograder.export.marks import Mark
from autograder.plaintext import clean_line
from autograder.report import make_feedback
from autograder.sheet import Sheet

_NUMBER = re.compile(r"(\d+)\s*$")
_NAMES = {
    "grade": ("Grade",),
    "maximum": ("Maximum Grade", "Maximum grade"),
    "feedback": ("Feedback comments",),
    "open": ("Grade can be changed",),
    "email": ("Email address",),
    "sis_id": ("ID number",),
    "name": ("Full name",),
}


def fill_worksheet(
    sheet: Sheet,
    marks: Sequence[Mark],
    assignment: Assignment,
    column: str = "",
    feedback_column: str = "",
    policy: Policy | None = None,
) -> Filling:
    """Fill marks, and feedback where there is a column for it, into a worksheet.

    Args:
        sheet: the worksheet as Moodle made it.
        marks: of the class.
        assignment: what was graded.
        column: the header of the grades, where the site's language is not known here.
        feedback_column: the header of the feedback, likewise; "-" for none.
        policy: how to fill.

    Raises:
        KitError: not a worksheet, no such column, or one with another maximum.
    """
    header = [clean_line(cell, 500) for cell in sheet.rows[0]] if sheet.rows else []
    asked = {"grade": column, "feedback": feedback_column.strip("-")}
    places = {kind: _find(header, asked.get(kind, ""), kind, sheet) for kind in _NAMES}
    grade, maximum = places["grade"], places["maximum"]
    if grade is not None and maximum is None:
        maximum = grade + 1  # where Moodle puts it in every language
    if grade is None or maximum is None or maximum >= len(header):
        raise KitError(
            f"{sheet.where} is not a grading worksheet of Moodle in English; its columns are"
            f" {', '.join(header) or 'none'}. Name that of the grades with --column."
        )
    filling = Filling(sheet, header[grade])
    lines = list(_list_lines(sheet, places, grade, maximum, filling))
    open_column = places["open"]

    def is_open(line: Line, _cell: str) -> str:
        row = sheet.rows[line.row]
        is_closed = open_column is not None and row[open_column].strip().casefold() == "no"
        return "Moodle says that the grade cannot be changed" if is_closed else ""

    paired = fill(
        filling, lines, marks, grade, assignment.points, policy or Policy(), is_open=is_open
    )
    if places["feedback"] is not None and feedback_column != "-":
        for row, mark in paired.items():
            if mark.result is not None and not is_open(Line(row, "", {}, Decimal(0)), ""):
                _fill_feedback(filling, row, places["feedback"], mark, assignment)
    return filling


def _find(header: list[str], asked: str, kind: str, sheet: Sheet) -> int | None:
    if asked:
        if header.count(asked) != 1:
            raise KitError(f"{sheet.where} has no column {asked!r}; it has {', '.join(header)}.")
        return header.index(asked)
    found = [n for n, name in enumerate(header) if name in _NAMES[kind]]
    return found[0] if len(found) == 1 else None


def _list_lines(
    sheet: Sheet, places: dict[str, int | None], grade: int, maximum: int, filling: Filling
) -> Sequence[Line]:
    """Return the students' rows: the first column names the participant in every language."""
    lines: list[Line] = []

    def get(row: list[str], kind: str) -> str:
        place = places[kind]
        return row[place].strip() if place is not None and place < len(row) else ""

    for number, row in enumerate(sheet.rows[1:], 1):
        found = _NUMBER.search(row[0])
        if found is None:
            continue
        worth = read_number(row[maximum]) if max(maximum, grade) < len(row) else None
        if worth is None or worth <= 0:
            filling.problems.append(f"line {number + 1} has no maximum of points; left as it is")
            continue
        keys = {"moodle_id": found[1], "email": get(row, "email"), "sis_id": get(row, "sis_id")}
        lines.append(Line(number, get(row, "name"), keys, worth))
    return lines


def _fill_feedback(
    filling: Filling, row: int, column: int, mark: Mark, assignment: Assignment
) -> None:
    text = render_comment(mark, assignment)
    old = filling.sheet.rows[row][column]
    if old != text:
        filling.sheet.fill(row, column, text)
        who = f"{mark.id}, feedback"
        filling.changes.append(Change(who, clean_line(old, 40), f"{len(text)} characters", ""))


def render_comment(mark: Mark, assignment: Assignment) -> str:
    """Return a student's feedback in short, as the HTML that Moodle's editor would make."""
    if mark.result is None:
        return ""
    told = make_feedback(mark.result, assignment)
    lines = [f"{told.score} of {told.max_score} points" if told.score else told.reason]
    if mark.penalty:
        lines[0] += f"; {explain(mark)}"
    items = []
    for part in told.parts:
        said = [f"{part.title}: {part.score} of {part.max_score}."]
        said += part.diagnoses
        if not part.diagnoses:
            open_titles = [title for finding in part.findings for title in finding.titles]
            said += [f"Not right yet: {'; '.join(open_titles)}."] if open_titles else []
        items.append(f"<li>{escape(clean_line(' '.join(said), 2000))}</li>")
    listed = f"<ul>{''.join(items)}</ul>" if items else ""
    return f"<p>{escape(clean_line(lines[0], 1000))}</p>{listed}"
