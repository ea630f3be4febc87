"""autograder export: marks and feedback in the form that an LMS takes back."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.cli.machine import show_path
from autograder.errors import KitError
from autograder.plaintext import clean_line

if TYPE_CHECKING:
    from autograder.assignment import Assignment
    from autograder.export.filling import Filling
    from autograder.export.marks import Mark


@click.group(epilog="Example: autograder export canvas attention gradebook.csv --dry-run")
def export() -> None:
    """Take the marks of a graded class to where they are kept."""


def _share(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add what every form of export is asked."""
    for option in (
        click.option(
            "--roster",
            type=click.Path(path_type=Path),
            multiple=True,
            help="A newer roster than the one the class was graded with; repeatable.",
        ),
        click.option(
            "--grades",
            type=click.Path(path_type=Path),
            help="Folder of the graded class.  [default: grades/ASSIGNMENT]",
        ),
        click.argument("assignment"),
    ):
        function = option(function)
    return function


_MISSING_AS_ZERO = click.option(
    "--missing-as-zero", is_flag=True, help="0 for who is on the roster and handed in nothing."
)


def _share_filling(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add what every table that is filled in is asked."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Say what would change, write nothing."),
        click.option(
            "--out",
            type=click.Path(path_type=Path),
            help="File to write.  [default: TABLE with -filled before its ending]",
        ),
        _MISSING_AS_ZERO,
        click.option("--scale", is_flag=True, help="Scale marks to the maximum of the LMS."),
        click.option("--column", default="", help="Title of the column of marks."),
    ):
        function = option(function)
    return function


@export.command(epilog="Example: autograder export canvas attention gradebook.csv --dry-run")
@_share
@click.argument("gradebook", type=click.Path(path_type=Path))
@_share_filling
def canvas(
    assignment: str,
    gradebook: Path,
    grades: Path | None,
    roster: tuple[Path, ...],
    column: str,
    scale: bool,
    missing_as_zero: bool,
    out: Path | None,
    dry_run: bool,
) -> int:
    """Fill the GRADEBOOK that Canvas has exported; import the filled one there.

    Only the assignment's column is changed. It is found by its title, which --column can name,
    as can the assignment's number in Canvas.
    """
    from autograder.export.canvas import fill_gradebook
    from autograder.export.filling import Policy
    from autograder.sheet import read_sheet

    declared, _, marks = _read(assignment, grades, roster)
    policy = Policy(is_scaled=scale, is_missing_zero=missing_as_zero)
    filling = fill_gradebook(read_sheet(gradebook), marks, declared, column, policy)
    return _finish(filling, gradebook, out, dry_run=dry_run)


@export.command(epilog="Example: autograder export moodle attention worksheet.csv --dry-run")
@_share
@click.argument("worksheet", type=click.Path(path_type=Path))
@_share_filling
@click.option(
    "--feedback-column", default="", help="Title of the column of feedback; - to leave it alone."
)
def moodle(
    assignment: str,
    worksheet: Path,
    grades: Path | None,
    roster: tuple[Path, ...],
    column: str,
    feedback_column: str,
    scale: bool,
    missing_as_zero: bool,
    out: Path | None,
    dry_run: bool,
) -> int:
    """Fill the grading WORKSHEET that Moodle has made; upload the filled one there.

    Only the columns of grades and of feedback comments are changed. A Moodle in another language
    than those known here needs their titles.
    """
    from autograder.export.filling import Policy
    from autograder.export.moodle import fill_worksheet
    from autograder.sheet import read_sheet

    declared, _, marks = _read(assignment, grades, roster)
    policy = Policy(is_scaled=scale, is_missing_zero=missing_as_zero)
    sheet = read_sheet(worksheet)
    filling = fill_worksheet(sheet, marks, declared, column, feedback_column, policy)
    return _finish(filling, worksheet, out, dry_run=dry_run)


@export.command(epilog="Example: autograder export csv attention --out marks.csv")
@_share
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File to write.")
@_MISSING_AS_ZERO
@click.option("--excel", is_flag=True, help="With the mark that Excel needs to read UTF-8.")
def csv(
    assignment: str,
    grades: Path | None,
    roster: tuple[Path, ...],
    out: Path,
    missing_as_zero: bool,
    excel: bool,
) -> int:
    """Write a table with a row a student: score, lateness, penalty and mark."""
    from autograder.export.table import render_table

    declared, _, marks = _read(assignment, grades, roster)
    table = render_table(declared, marks, is_missing_zero=missing_as_zero)
    _write(out, table.encode("utf-8-sig" if excel else "utf-8", "replace"))
    click.echo(f"Wrote {show_path(out)}: {len(marks)} students.")
    return 0


@export.command(epilog="Example: autograder export feedback attention --lms moodle --out back.zip")
@_share
@click.option(
    "--lms",
    type=click.Choice(["canvas", "moodle", "folders"]),
    required=True,
    help="Whose names the files get; folders: one for each student.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Archive to write.")
def feedback(
    assignment: str, grades: Path | None, roster: tuple[Path, ...], lms: str, out: Path
) -> int:
    """Write an archive of feedback files, named as the LMS wants them for bulk upload."""
    from autograder.export.returns import collect_feedback
    from autograder.release.zipping import write_zip

    _, folder, marks = _read(assignment, grades, roster)
    files, without = collect_feedback(folder, marks, lms)
    for line in without:
        click.echo(f"not in it: {clean_line(line, 300)}")
    if not files:
        raise KitError(f"no feedback has a name that {lms} would know: nothing was written.")
    if out.is_symlink() or (out.exists() and not out.is_file()):
        raise KitError(f"{out} is no regular file; an archive needs one.")
    try:
        write_zip(out, files)
    except OSError as error:
        raise KitError(f"cannot write {out}: {error.strerror}.") from error
    click.echo(f"Wrote {show_path(out)}: {len(files)} files.")
    return 0


@export.command(epilog="Example: autograder export nbgrader attention course/gradebook.db")
@_share
@click.argument("gradebook")
@click.option("--dry-run", is_flag=True, help="Say what would change, write nothing.")
def nbgrader(
    assignment: str, gradebook: str, grades: Path | None, roster: tuple[Path, ...], dry_run: bool
) -> int:
    """Write scores into the GRADEBOOK of an nbgrader course, a file or a database's URL.

    Each graded test has a grade cell of its own there. Manual marks and comments stay.
    """
    from autograder.export.nbgrader import write_gradebook

    declared, _, marks = _read(assignment, grades, roster)
    url = gradebook if "://" in gradebook else f"sqlite:///{Path(gradebook).resolve()}"
    written = write_gradebook(url, marks, declared, dry_run=dry_run)
    for line in written.changed:
        click.echo(clean_line(line, 300))
    for line in written.without:
        click.echo(f"no score, left alone: {clean_line(line, 300)}")
    for student in written.by_hand:
        click.echo(f"marked by hand in part, look again: {clean_line(student, 300)}")
    count = f"{len(written.changed)} students change, {written.unchanged} stay as they are"
    click.echo(f"{'Dry run, nothing written' if dry_run else 'Wrote the gradebook'}: {count}.")
    return 0


def _read(
    assignment: str, grades: Path | None, roster: tuple[Path, ...]
) -> "tuple[Assignment, Path, list[Mark]]":
    from autograder.assignment import load
    from autograder.export.marks import read_marks
    from autograder.roster import read_rosters

    declared = load(assignment)
    folder = grades or Path("grades") / assignment
    return declared, folder, read_marks(folder, declared, read_rosters(roster))


def _finish(filling: "Filling", source: Path, out: Path | None, *, dry_run: bool) -> int:
    """Say what was filled in, and write it unless it is only to be said."""
    out = out or source.with_name(f"{source.stem}-filled{source.suffix}")
    if out.resolve() == source.resolve():
        raise KitError(f"{out} is the table that was given. Name another file with --out.")
    for change in filling.changes:
        why = f"  ({change.why})" if change.why else ""
        click.echo(clean_line(f"{change.who}: {change.old or 'blank'} -> {change.new}{why}", 300))
    for problem in filling.problems:
        click.echo(f"look at {clean_line(problem, 400)}")
    count = f"{len(filling.changes)} cells change, {filling.unchanged} marks stay as they are"
    if dry_run:
        click.echo(f"Dry run, nothing written. {filling.column}: {count}.")
        return 0
    _write(out, filling.sheet.render())
    click.echo(f"Wrote {show_path(out)}. {filling.column}: {count}.")
    return 0


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)  # in place: it may be a pipe
    except OSError as error:
        raise KitError(f"cannot write {path}: {error.strerror}.") from error
