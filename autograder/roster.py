"""Who is in the class: roster.csv, or the table that an LMS or a forge exports.

A roster has a row a student and one of these headers:

 - our own: `id`, and as many as there are of `name` (or `first_name` and `last_name`),
   `email`, `login`, `section`, `group`, `extension`, `late_days`, `submitted`, `canvas_id`,
   `moodle_id`, `sis_id`;
 - Canvas' gradebook export: `Student`, `ID`, `SIS Login ID`, `Section`, ...;
 - Moodle's grading worksheet: `Identifier`, `Full name`, `Email address`, ...;
 - a forge's: `username`, `first_name`, `last_name`, `email`, `section`, ...
"""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

from autograder.errors import KitError, suggest_nearest
from autograder.names import fold_slug
from autograder.plaintext import clean_line
from autograder.sheet import Sheet, read_sheet

MAX_STUDENTS = 20_000
_ALIASES = {
    "student": "name", "student_name": "name", "full_name": "name", "fullname": "name",
    "lastname": "last_name", "firstname": "first_name", "surname": "last_name",
    "email_address": "email", "e_mail": "email", "mail": "email", "sis_login_id": "login",
    "username": "login", "user_name": "login", "github": "login", "sis_user_id": "sis_id",
    "id_number": "sis_id", "student_id": "id", "canvas_user_id": "canvas_id",
    "last_modified_submission": "submitted", "team": "group", "late_days_left": "late_days",
}  # fmt: skip
_GIVEN = ("first_name", "last_name")


@dataclass(frozen=True)
class Student:
    """One student as the roster has them; a text is empty where it says nothing."""

    id: str
    name: str = ""
    email: str = ""
    login: str = ""
    section: str = ""
    group: str = ""
    extension: str = ""
    late_days: str = ""
    submitted: str = ""
    canvas_id: str = ""
    moodle_id: str = ""
    sis_id: str = ""

    @property
    def free_days(self) -> int | None:
        """Their late days, where the roster says how many."""
        return int(self.late_days) if self.late_days.isdecimal() else None


@dataclass(frozen=True)
class Roster:
    """The class, in the roster's own order."""

    students: tuple[Student, ...] = ()
    by_id: dict[str, Student] = field(default_factory=dict)

    @classmethod
    def of(cls, students: Iterable[Student]) -> "Roster":
        listed = tuple(students)
        return cls(listed, {student.id: student for student in listed})

    def find_group(self, name: str) -> list[Student]:
        """Return the students of a group, whatever case and blanks its name is written with."""
        wanted = fold_slug(name)
        return [s for s in self.students if s.group and fold_slug(s.group) == wanted]

    def describe(self) -> list[dict[str, str]]:
        """Return what intake.json keeps of it: the keys that say something."""
        names = [part.name for part in fields(Student)]
        return [
            {name: getattr(student, name) for name in names if getattr(student, name)}
            for student in self.students
        ]


def restore_roster(described: Iterable[dict[str, str]]) -> Roster:
    """Return the roster that `describe` has described; keys that are not known are left out."""
    known = {part.name for part in fields(Student)}
    rows = [{name: value for name, value in row.items() if name in known} for row in described]
    return Roster.of(Student(**row) for row in rows if row.get("id"))


def read_rosters(paths: Sequence[Path]) -> Roster | None:
    """Read rosters and put them together, or return None when there are none.

    Raises:
        KitError: one is not readable, has no header that is known, or has two students of one id.
    """
    rosters = [make_roster(read_sheet(path)) for path in paths]
    return functools.reduce(combine, rosters) if rosters else None


def combine(first: Roster, second: Roster) -> Roster:
    """Add to a roster what another says: about students of both, and those it alone has.

    A student is found by any id that is nobody else's. What the second says, it says better; only
    the first one's ids stay.
    """
    index: dict[str, set[str]] = {}
    for student in first.students:
        for key in _list_keys(student):
            index.setdefault(key, set()).add(student.id)
    merged = dict(first.by_id)
    for student in second.students:
        ids = {who for key in _list_keys(student) for who in index.get(key, ())}
        if len(ids) == 1:
            known = merged[next(iter(ids))]
            said = {name: value for name, value in asdict(student).items() if value}
            merged[known.id] = replace(known, **{**said, "id": known.id})
        else:
            merged.setdefault(student.id, student)
    return Roster.of(merged.values())


def _list_keys(student: Student) -> set[str]:
    """Return what identifies a student; numbers of an LMS with the LMS' name."""
    logins = {student.id, student.login, student.email, student.sis_id}
    numbers = {f"canvas {student.canvas_id}" * bool(student.canvas_id)}
    numbers.add(f"moodle {student.moodle_id}" * bool(student.moodle_id))
    return {key.casefold() for key in logins | numbers if key}


def make_roster(sheet: Sheet) -> Roster:
    """Make a roster of a table.

    Raises:
        KitError: no header that is known, or two students with one id.
    """
    rows = sheet.rows
    header = [_name_column(cell) for cell in rows[0]] if rows else []
    kind = _recognise(header, sheet)
    students: list[Student] = []
    seen: dict[str, int] = {}
    for number, row in enumerate(rows[1:], 2):
        cells = dict(zip(header, (clean_line(cell, 500) for cell in row), strict=False))
        student = _READERS[kind](cells)
        if student is None:
            continue
        if not student.id:
            raise KitError(f"{sheet.where}: line {number} has no id.")
        if student.late_days and not re.fullmatch(r"\d{1,4}", student.late_days, re.ASCII):
            raise KitError(f"{sheet.where}: late_days in line {number} is no number of days.")
        if student.id.casefold() in seen:
            earlier = seen[student.id.casefold()]
            raise KitError(
                f"{sheet.where}: lines {earlier} and {number} have the same id {student.id!r};"
                " every student needs their own."
            )
        seen[student.id.casefold()] = number
        students.append(student)
    if not students:
        raise KitError(f"{sheet.where} lists no students.")
    if len(students) > MAX_STUDENTS:
        raise KitError(f"{sheet.where} lists more than {MAX_STUDENTS} students.")
    return Roster.of(students)


def _name_column(cell: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "_", clean_line(cell).casefold()).strip("_")
    return _ALIASES.get(name, name)


def _recognise(header: Sequence[str], sheet: Sheet) -> str:
    raw = [clean_line(cell) for cell in sheet.rows[0]] if sheet.rows else []
    if "ID" in raw[:3] and "Section" in raw and {"name", "last_name"} & set(header[:1]):
        return "canvas"
    if header[:1] == ["identifier"] and "name" in header:
        return "moodle"
    if "id" in header:
        return "ours"
    if "login" in header:
        return "forge"
    first = raw[0] if raw else ""
    hint = suggest_nearest(first, ["id", "username", "Student", "Identifier"])
    raise KitError(
        f"{sheet.where} is no roster: it needs a column id, or to be the export of a Canvas"
        f" gradebook or of a Moodle worksheet. Its first column is {first!r}; {hint}"
    )


def _read_ours(cells: dict[str, str]) -> Student | None:
    if not any(cells.values()):
        return None
    known = {part.name for part in fields(Student)}
    given = {name: value for name, value in cells.items() if name in known}
    given["name"] = given.get("name") or " ".join(cells.get(name, "") for name in _GIVEN).strip()
    return Student(**{"id": "", **given})


def _read_forge(cells: dict[str, str]) -> Student | None:
    return _read_ours({"id": cells.get("login", ""), **cells})


def _read_canvas(cells: dict[str, str]) -> Student | None:
    name = cells.get("name") or ", ".join(
        part for part in (cells.get("last_name", ""), cells.get("first_name", "")) if part
    )
    number = cells.get("id", "")
    if not number or name.startswith("Points Possible"):
        return None  # a row about columns, or a blank one
    login, sis = cells.get("login", ""), cells.get("sis_id", "")
    if name == "Student, Test" and not sis:  # Canvas' own test student
        return None
    return Student(
        id=login or sis or number,
        name=name,
        email=login if "@" in login else "",
        login=login,
        section=cells.get("section", ""),
        canvas_id=number,
        sis_id=sis,
    )


def _read_moodle(cells: dict[str, str]) -> Student | None:
    number = re.search(r"(\d+)\s*$", cells.get("identifier", ""))
    if number is None:
        return None
    email, sis, name = (cells.get(key, "") for key in ("email", "sis_id", "name"))
    submitted = cells.get("submitted", "")
    return Student(
        id=email or sis or cells["identifier"],
        name=name,
        email=email,
        group=cells.get("group", ""),
        submitted="" if submitted == "-" else submitted,
        moodle_id=number[1],
        sis_id=sis,
    )


_READERS = {
    "ours": _read_ours,
    "forge": _read_forge,
    "canvas": _read_canvas,
    "moodle": _read_moodle,
}
