"""Canvas: fills the gradebook that the instructor has exported, ready to be imported again.

Canvas finds a row by `ID`, then `SIS User ID`, `SIS Login ID` and name, and a column by the number
in its title. A blank leaves the old mark, `EX` excuses (instructure/canvas-lms,
`lib/gradebook_importer.rb`).
"""

import re
from collections.abc import Sequence
from decimal import Decimal

from autograder.assignment import Assignment
from autograder.errors import KitError, suggest_nearest
from autograder.export.filling import Filling, Line, Policy, fill, read_number
from autograder.export.marks import Mark
from autograder.plaintext import clean_line
from autograder.sheet import Sheet

_IDS = {"ID": "canvas_id", "SIS User ID": "sis_id", "SIS Login ID": "login"}
_OTHERS = ("Student", "LastName", "FirstName", "Integration ID", "Root Account", "Section")
_READ_ONLY = re.compile(r"(?:Current|Final|Override) (?:Score|Grade|Points|Status)")
_TITLE = re.compile(r"(?P<title>.*?)\s*\((?P<number>\d+)\)\s*$", re.DOTALL)
_CLOSED = {"ex": "excused in Canvas", "n/a": "not assigned to them in Canvas"}


def fill_gradebook(
    sheet: Sheet,
    marks: Sequence[Mark],
    assignment: Assignment,
    column: str = "",
    policy: Policy | None = None,
) -> Filling:
    """Fill marks into a gradebook.

    Args:
        sheet: the gradebook as Canvas exported it.
        marks: of the class.
        assignment: what was graded.
        column: title or number of the column; the assignment's own title when empty.
        policy: how to fill.

    Raises:
        KitError: not a gradebook, no such column, one that Canvas does not import, or one with
            another maximum.
    """
    header = [clean_line(cell, 500) for cell in sheet.rows[0]] if sheet.rows else []
    has_name = header[:1] == ["Student"] or header[:2] == ["LastName", "FirstName"]
    if not has_name or not {"ID", "SIS Login ID"} & set(header) or "Section" not in header:
        raise KitError(
            f"{sheet.where} is not a gradebook of Canvas: it does not begin with Student, ID, ...,"
            " Section. Export it in Canvas under Grades, Export, Export Entire Gradebook."
        )
    place = _find_column(header, column, assignment, sheet)
    filling = Filling(sheet, header[place])
    fill(
        filling,
        _list_lines(sheet, header, place, _find_maximum(sheet, place)),
        marks,
        place,
        assignment.points,
        policy or Policy(),
        is_open=lambda line, cell: _CLOSED.get(cell.strip().casefold(), ""),
    )
    return filling


def _find_column(header: list[str], wanted: str, assignment: Assignment, sheet: Sheet) -> int:
    info = {*_IDS, *_OTHERS}
    titles = {n: title for n, title in enumerate(header) if title and title not in info}
    plain = {n: _split(title)[0] for n, title in titles.items()}
    asked = wanted or assignment.title
    fit = [
        n
        for n, title in titles.items()
        if asked.strip().casefold() in (title.casefold(), plain[n].casefold())
        or asked.strip() == _split(title)[1]
    ]
    fit = fit or [n for n in titles if not wanted and plain[n].casefold() == assignment.id]
    if len(fit) != 1:
        count = "more than one column" if fit else "no column"
        hint = suggest_nearest(asked, [t for t in titles.values() if not _READ_ONLY.search(t)])
        raise KitError(
            f"{sheet.where} has {count} {asked!r}; name one with --column, by its title or number;"
            f" {hint}"
        )
    title = titles[fit[0]]
    if "final" in title.casefold() or _READ_ONLY.search(title):
        raise KitError(
            f"Canvas does not import a column {title!r}: it takes every title with Final, Current"
            " or Override in it for one that it computes itself. Rename the assignment in Canvas"
            " and export the gradebook again."
        )
    return fit[0]


def _split(title: str) -> tuple[str, str]:
    found = _TITLE.fullmatch(title)
    return (found["title"], found["number"]) if found else (title, "")


def _find_maximum(sheet: Sheet, place: int) -> Decimal:
    for row in sheet.rows[1:]:
        if "Points Possible" in row[0] and place < len(row):
            maximum = read_number(row[place])
            if maximum is not None and maximum > 0:
                return maximum
    raise KitError(
        f"{sheet.where} does not say how many points the column is worth: it has no row"
        " Points Possible with a number in it. Give it points in Canvas and export it again."
    )


def _list_lines(sheet: Sheet, header: list[str], place: int, maximum: Decimal) -> list[Line]:
    """Return the rows that are students'; others tell about columns, or are blank."""
    lines: list[Line] = []
    for number, row in enumerate(sheet.rows[1:], 1):
        cells = dict(zip(header, row, strict=False))
        name = cells.get("Student") or f"{cells.get('LastName', '')}, {cells.get('FirstName', '')}"
        keys = {kind: cells.get(title, "").strip() for title, kind in _IDS.items()}
        if place < len(row) and any(keys.values()):
            lines.append(Line(number, name.strip(" ,"), keys, maximum))
    return lines
