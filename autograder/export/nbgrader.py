"""nbgrader: writes scores into a gradebook, grade cell by grade cell, through nbgrader's own API.

Manual marks, extra credit and comments stay. As after `nbgrader autograde`, a cell that somebody
has marked by hand is set to be looked at again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.assignment import Assignment
from autograder.cells import name_cells
from autograder.errors import KitError
from autograder.export.marks import Mark
from autograder.results import Result


@dataclass
class Written:
    """What was written into a gradebook, and what was not."""

    changed: list[str] = field(default_factory=list)  # a line for each student
    unchanged: int = 0
    without: list[str] = field(default_factory=list)  # students without a score, and why
    by_hand: list[str] = field(default_factory=list)  # students with cells that are marked by hand


def write_gradebook(
    url: str, marks: Sequence[Mark], assignment: Assignment, *, dry_run: bool = False
) -> Written:
    """Write the scores of a class.

    Args:
        url: of the gradebook's database, such as sqlite:///gradebook.db.
        marks: of the class.
        assignment: what was graded.
        dry_run: write nothing, only say what would be written.

    Raises:
        KitError: nbgrader is not installed, there is no such gradebook, the assignment is not in
            it, or its grade cells are those of another version of the tests.
    """
    try:
        from nbgrader.api import Gradebook, MissingEntry
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        raise KitError("nbgrader is not installed here. Run `make setup-platforms`.") from None
    graded = [
        (mark.id, mark, mark.result) for mark in marks if mark.result and mark.score is not None
    ]
    written = Written(without=[f"{m.id}: {m.reason}" for m in marks if m.score is None])
    try:
        with Gradebook(url, _find_course(url)) as gradebook:
            try:
                notebook = gradebook.find_notebook(assignment.id, assignment.id)
            except MissingEntry:
                raise KitError(
                    f"the gradebook {url} knows no notebook {assignment.id} in an assignment"
                    f" {assignment.id}. Run `nbgrader generate_assignment {assignment.id}` first."
                ) from None
            maxima = {cell.name: float(cell.max_score) for cell in notebook.grade_cells}
            for _, _, result in graded:
                _check_cells(result, maxima)
            for student, mark, result in graded:
                _write_student(gradebook, student, mark, result, written, dry_run=dry_run)
            if dry_run:
                gradebook.db.rollback()
            else:
                gradebook.db.commit()
    except SQLAlchemyError as error:
        reason = str(error).splitlines()[0]
        raise KitError(f"the gradebook {url} cannot be used: {reason}") from error
    return written


def _find_course(url: str) -> str:
    """Return the id of the course that a gradebook is of; opening it for another would add one.

    Raises:
        KitError: there is no gradebook of nbgrader's there.
    """
    from sqlalchemy import create_engine, inspect, text
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    missing = f"there is no gradebook of nbgrader's at {url}."
    try:
        place = make_url(url)
    except ArgumentError:
        raise KitError(
            f"{url} is no address of a database, such as sqlite:///gradebook.db."
        ) from None
    if place.get_backend_name() == "sqlite" and not Path(str(place.database)).is_file():
        raise KitError(missing)
    engine = create_engine(url)
    try:
        if "course" not in inspect(engine).get_table_names():
            raise KitError(missing)
        with engine.connect() as connection:
            courses = [str(row[0]) for row in connection.execute(text("SELECT id FROM course"))]
    finally:
        engine.dispose()
    return courses[0] if courses else "default_course"


def _check_cells(result: Result, maxima: dict[str, float]) -> None:
    found = {cell: float(test.max_points) for cell, test in name_cells(result.tests)}
    if any(maxima.get(cell) != points for cell, points in found.items()):
        raise KitError(
            f"the gradebook's grade cells are not those of {result.assignment} as it was graded."
            " Build the course anew, and generate the assignment from it."
        )


def _write_student(
    gradebook: Any, student: str, mark: Mark, result: Result, written: Written, *, dry_run: bool
) -> None:
    from nbgrader.api import MissingEntry

    name = result.assignment
    try:
        before = gradebook.find_submission(name, student).score
    except MissingEntry:
        if dry_run:
            written.changed.append(f"{student}: none -> {result.score}")
            return
        before = None
        gradebook.update_or_create_student(student)
        handed_in = mark.record.submitted if mark.record else ""
        times = {"timestamp": handed_in} if handed_in else {}
        gradebook.update_or_create_submission(name, student, **times)
    is_changed = before is None
    is_by_hand = False
    for cell, test in name_cells(result.tests):
        grade = gradebook.find_grade(cell, name, name, student)
        is_changed |= grade.auto_score != float(test.points)
        is_by_hand |= grade.manual_score is not None
        grade.auto_score = float(test.points)
        grade.needs_manual_grade = grade.manual_score is not None
    if is_by_hand:
        written.by_hand.append(student)
    if not is_changed:
        written.unchanged += 1
        return
    gradebook.db.flush()
    after = gradebook.find_submission(name, student).score
    old = "none" if before is None else f"{before:g}"
    written.changed.append(f"{student}: {old} -> {after:g}")
