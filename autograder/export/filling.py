"""Fills marks into a table that an LMS has exported: finds the rows, changes one column."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from autograder.errors import KitError
from autograder.export.marks import ABSENT, Mark, round_mark
from autograder.names import fold_slug, fold_words, list_slugs
from autograder.plaintext import clean_line
from autograder.results import format_points
from autograder.sheet import Sheet


@dataclass(frozen=True)
class Line:
    """A student's row in the table, and what identifies them there."""

    row: int
    name: str
    keys: Mapping[str, str]  # kind to value: "canvas_id", "moodle_id", "sis_id", "login", "email"
    maximum: Decimal


@dataclass(frozen=True)
class Change:
    """A cell that gets another value."""

    who: str
    old: str
    new: str
    why: str


@dataclass
class Filling:
    """A table with its marks, and what there is to say about it."""

    sheet: Sheet
    column: str
    changes: list[Change] = field(default_factory=list)
    unchanged: int = 0
    problems: list[str] = field(default_factory=list)  # marks that were not filled in, and why


@dataclass(frozen=True)
class Policy:
    """How an instructor wants the table filled."""

    is_scaled: bool = False  # to the table's own maximum
    is_missing_zero: bool = False  # who has handed in nothing gets 0 rather than a blank


def pair(lines: Sequence[Line], marks: Sequence[Mark], filling: Filling) -> dict[int, Mark]:
    """Find the row of each mark; a mark whose ids or name contradict a row goes into no row."""
    index: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in lines:
        for kind, key in line.keys.items():
            if key:
                index[kind, key.casefold()].append(line)
        index["name", " ".join(fold_words(line.name))].append(line)
    found: dict[int, list[Mark]] = defaultdict(list)
    for mark in marks:
        own = _find(mark, index, filling)
        if own is not None:
            found[own.row].append(mark)
    paired: dict[int, Mark] = {}
    for row, rivals in found.items():
        # Who could not be matched to the roster has their id in the table all the same.
        rivals = [mark for mark in rivals if mark.status != ABSENT] or rivals
        if len(rivals) == 1:
            paired[row] = rivals[0]
        else:
            listed = ", ".join(mark.id for mark in rivals)
            filling.problems.append(f"{listed}: all of them belong to one row; none was filled in")
    return paired


def _find(mark: Mark, index: dict[tuple[str, str], list[Line]], filling: Filling) -> Line | None:
    who = mark.student
    logins = {who.login, who.id, who.email} - {""}
    wanted = [("canvas_id", who.canvas_id), ("moodle_id", who.moodle_id), ("sis_id", who.sis_id)]
    wanted += [(kind, key) for key in sorted(logins) for kind in ("login", "email", "sis_id")]
    hits = [line for kind, key in wanted if key for line in index.get((kind, key.casefold()), [])]
    rows = {line.row: line for line in hits}
    label = f"{mark.id} ({clean_line(who.name)})" if who.name else mark.id
    if len(rows) > 1:
        names = " and ".join(clean_line(line.name) or f"row {line.row}" for line in rows.values())
        filling.problems.append(f"{label}: its ids are those of {names}; not filled in")
        return None
    if rows:
        line = next(iter(rows.values()))
        if _agrees(mark, line):
            return line
        filling.problems.append(
            f"{label}: the row with that id is {clean_line(line.name)!r}; not filled in. If it is"
            " a group, name its members in a roster with a column group"
        )
        return None
    named = index.get(("name", " ".join(fold_words(who.name or who.id))), [])
    if len(named) == 1:
        return named[0]
    if mark.status != ABSENT:
        why = "more than one row has that name" if named else "no row of the table is theirs"
        filling.problems.append(f"{label}: {why}; not filled in")
    return None


def _agrees(mark: Mark, line: Line) -> bool:
    """Tell whether the name that came with a mark, if any, is the row's."""
    name = mark.student.name
    if not name or not line.name:
        return True
    if fold_words(name) == fold_words(line.name):
        return True
    # Without a roster the name is that of the upload: a slug or a name, and the id behind it.
    slug = fold_slug(re.sub(r"-\d+$", "", name))
    return slug in set(list_slugs(line.name)) or slug.startswith(("participant", "anon"))


def fill(
    filling: Filling,
    lines: Iterable[Line],
    marks: Sequence[Mark],
    column: int,
    maximum: Decimal,
    policy: Policy,
    *,
    is_open: Callable[[Line, str], str] = lambda line, cell: "",
) -> dict[int, Mark]:
    """Fill marks into a column; return whose mark went into which row.

    Args:
        filling: what to fill, and where to say what was done.
        lines: the students' rows.
        marks: of the class.
        column: that of the marks.
        maximum: of the assignment.
        policy: what the instructor wants.
        is_open: says why a cell must stay as it is; empty when it may be filled.

    Raises:
        KitError: the table's maximum is another than the assignment's, and nobody asked to scale.
    """
    listed = list(lines)
    paired = pair(listed, marks, filling)
    comma = _has_decimal_comma(filling.sheet)
    for line in listed:
        mark = paired.get(line.row)
        if mark is None:
            continue
        _check_maximum(line, maximum, policy, filling)
        value = mark.settle(is_missing_zero=policy.is_missing_zero)
        old = filling.sheet.rows[line.row][column]
        if value is None:
            if mark.status != ABSENT:
                filling.problems.append(f"{mark.id}: {clean_line(mark.reason)}; left as it is")
            continue
        closed = is_open(line, old)
        if closed:
            filling.problems.append(f"{mark.id}: {closed}; left as it is")
            continue
        if mark.late.note:
            filling.problems.append(f"{mark.id}: {mark.late.note}")
        new = round_mark(value, maximum, line.maximum)
        if read_number(old) == new:
            filling.unchanged += 1
            continue
        shown = f"{new:.2f}".replace(".", "," if comma else ".")
        filling.sheet.fill(line.row, column, shown)
        filling.changes.append(
            Change(clean_line(line.name) or mark.id, old.strip(), shown, explain(mark))
        )
    return paired


def _check_maximum(line: Line, maximum: Decimal, policy: Policy, filling: Filling) -> None:
    if line.maximum != maximum and not policy.is_scaled:
        raise KitError(
            f"{filling.sheet.where} gives {filling.column!r} {format_points(line.maximum)} points,"
            f" the assignment has {format_points(maximum)}. Change it there, or scale the marks"
            " with --scale."
        )


def explain(mark: Mark) -> str:
    """Return how a mark comes about, where it is not the score alone."""
    if mark.score is None:
        return mark.reason
    if mark.late.days is None:
        return "late, nothing taken off"
    if not mark.penalty:
        free = f", {mark.late.free_days} late days used" if mark.late.free_days else ""
        return mark.late.text and f"{mark.late.text} late, nothing taken off{free}"
    return (
        f"score {format_points(mark.score)}, {mark.late.text} late: -{format_points(mark.penalty)}"
    )


def read_number(cell: str) -> Decimal | None:
    """Return the number in a cell, with a point or a comma, or None when there is none."""
    try:
        number = Decimal(cell.strip().replace(",", "."))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _has_decimal_comma(sheet: Sheet) -> bool:
    """Tell whether the numbers of a table are written with a comma."""
    cells = [cell.strip() for row in sheet.rows for cell in row]
    commas = sum(re.fullmatch(r"\d+,\d+", cell) is not None for cell in cells)
    points = sum(re.fullmatch(r"\d+\.\d+", cell) is not None for cell in cells)
    return commas > points
