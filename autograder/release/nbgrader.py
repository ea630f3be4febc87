"""A complete nbgrader course: `source/`, with a grade cell for each test, and its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder import template
from autograder.assignment import Assignment, Exercise
from autograder.release.graded import DeclaredTest, StandAlone, indent, list_tests
from autograder.release.notebook import (
    IMPORTS,
    Form,
    assemble,
    cell_source,
    code,
    to_bytes,
)
from autograder.results import format_points
from autograder.storage import write_whole

if TYPE_CHECKING:
    from nbformat import NotebookNode

CHECKING = "checking"  # the folder beside the notebook that the tests' helpers lie in
CELLS = "checking.cells"
MARKERS = (template.BEGIN, template.END)
BEGIN, END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
CONFIG = """\
# The configuration of an nbgrader course with the assignment {id}. All commands are nbgrader's own.
from nbgrader.preprocessors import (
    CheckCellMetadata, ClearOutput, DeduplicateIds, OverwriteCells, OverwriteKernelspec,
)

c = get_config()
c.CourseDirectory.course_id = "{id}"
c.ClearSolutions.code_stub = {{"python": 'raise NotImplementedError("{id} / not yet written")'}}
c.Execute.timeout = {seconds}


class ForgivingCells(OverwriteCells):
    # Students delete and copy cells. Deleted grade cells are put back; a copy is the student's own.
    def preprocess_cell(self, cell, resources, cell_index):
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        if "nbgrader" in cell.metadata and "grade_id" not in cell.metadata.nbgrader:
            del cell.metadata["nbgrader"]
        return cell, resources


c.OverwriteCells.add_missing_cells = True
c.Autograde.sanitize_preprocessors = [
    ClearOutput, DeduplicateIds, OverwriteKernelspec, ForgivingCells, CheckCellMetadata,
]

# Verdicts from a sandbox, in place of tests that run beside the student's code. The package
# `autograder` must be installed where nbgrader runs. Take the two # away:
# from autograder.platforms import nbgrader as sandbox
# sandbox.use(c)
"""


def build(declared: Assignment, out: Path) -> list[Path]:
    """Write the course into `out/nbgrader`; what else lies there stays.

    Raises:
        KitError: a source cannot be read, or the tests do not say what the declaration says.
    """
    folder = out / "nbgrader"
    for name, content in build_course(declared).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    return [folder]


def build_course(assignment: Assignment) -> dict[str, bytes]:
    """The files of the course: path from its root to content."""
    seconds = int(assignment.limits.import_wall_seconds + 10 * assignment.limits.test_wall_seconds)
    files = {
        "nbgrader_config.py": CONFIG.format(id=assignment.id, seconds=seconds).encode(),
        f"source/{assignment.id}/{assignment.id}.ipynb": source_notebook(assignment),
    }
    for name, content in helper_files(assignment).items():
        files[f"source/{assignment.id}/{CHECKING}/{name}"] = content
    return files


def helper_files(assignment: Assignment) -> dict[str, bytes]:
    """What tests in a notebook need beside it, all of it public: name in its folder to content."""
    files = {
        name.removeprefix("tests/"): text.encode()
        for name, text in template.build_template(assignment).items()
        if name.startswith("tests/") and name != "tests/conftest.py"
    }
    shared = assignment.root / "assignments" / "checking" / "platforms"
    return files | {path.name: path.read_bytes() for path in sorted(shared.glob("*.py"))}


def source_notebook(assignment: Assignment, sources: Mapping[str, str] | None = None) -> bytes:
    """The instructor's notebook: solutions, and all tests; `sources` replace exercises' files."""
    tests = list_tests(assignment)
    alone = StandAlone(assignment)
    texts = read_solutions(assignment) | dict(sources or {})
    supplied = supply_lines(assignment)

    def setup() -> list[NotebookNode]:
        return [code(IMPORTS, "setup")]

    def exercise(exercise: Exercise) -> list[NotebookNode]:
        source = cell_source(texts[exercise.file], assignment)
        return [code(source, f"exercise-{exercise.id}", **_solution(exercise))]

    def checks(exercise: Exercise) -> list[NotebookNode]:
        mine = [test for test in tests if test.exercise == exercise.id]
        return [
            code(
                _public_cell(test, supplied[exercise.id] if test is mine[0] else "")
                if not test.is_hidden
                else _hidden_cell(test, alone.source_of(test)),
                test.cell,
                **_grade(test),
            )
            for test in mine
        ]

    return to_bytes(assemble(assignment, Form(setup, exercise, checks)))


def read_solutions(assignment: Assignment) -> dict[str, str]:
    """The reference's files, markers included."""
    return {
        exercise.file: (assignment.solution_dir / exercise.file).read_text(encoding="utf-8")
        for exercise in assignment.exercises
    }


def supply_lines(assignment: Assignment) -> dict[str, str]:
    """For each exercise the lines that put right ones of those that it uses at hand."""
    solutions = read_solutions(assignment)
    lines = {}
    for exercise in assignment.exercises:
        calls = []
        for used in exercise.uses:
            source = cell_source(solutions[assignment.exercise(used).file], assignment)
            source = "\n".join(line for line in source.splitlines() if line.strip() not in MARKERS)
            calls.append(f'{CELLS}.supply("{used}", {_quote(source)})')
        lines[exercise.id] = "\n".join(calls)
    return lines


def _quote(source: str) -> str:
    """A text as a literal that can still be read, where its own quotes allow that."""
    marks = [mark for mark in ("'''", '"""') if mark not in source]
    if not marks or source.endswith(marks[0][0]):
        return repr(source)
    return f"r{marks[0]}\n{source}\n{marks[0]}"


def heading(test: DeclaredTest) -> str:
    """What a student reads of a test."""
    kind = "Hidden" if test.is_hidden else "Public"
    plural = "" if test.points == 1 else "s"
    return f"{kind} test, {format_points(test.points)} point{plural}: {test.title}"


def _public_cell(test: DeclaredTest, supplied: str) -> str:
    lines = [f"# {heading(test)}", f"import {CELLS}"]
    if supplied:
        lines += [BEGIN, supplied, END]
    return "\n".join([*lines, f'{CELLS}.run("{test.id}", globals())'])


def _hidden_cell(test: DeclaredTest, source: str) -> str:
    lines = [f"# {heading(test)}", BEGIN, f"import {CELLS}", "", "def _hidden():", indent(source)]
    lines += [
        f"    return {test.name}",
        "",
        f"{CELLS}.judge(",
        f'    "{test.exercise}", _hidden(),',
    ]
    lines += [f"    globals(), {test.title!r}, {test.hint!r},", ")", END]
    return "\n".join(lines)


def number(points: Decimal) -> int | float:
    """Points as platforms write them: an integer where it is one."""
    return int(points) if points == int(points) else float(points)


def _metadata(grade_id: str, **marks: Any) -> dict[str, Any]:
    plain = {"grade": False, "locked": False, "solution": False, "task": False}
    return {"nbgrader": {"grade_id": grade_id, "schema_version": 3, **plain, **marks}}


def _solution(exercise: Exercise) -> dict[str, Any]:
    return _metadata(exercise.id, solution=True)


def _grade(test: DeclaredTest) -> dict[str, Any]:
    return _metadata(test.cell, grade=True, locked=True, points=number(test.points))
