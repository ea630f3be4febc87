"""An otter-grader master notebook, and what `otter assign` makes of it.

Each exercise is a question, each graded test a test case of it. Otter runs a question's test
cases in the student's own environment, so what they need of the tests' helpers lies beside the
notebook; what hidden test cases need is inside them.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.assignment import Assignment, Exercise
from autograder.errors import KitError
from autograder.release.graded import DeclaredTest, StandAlone, indent, list_tests
from autograder.release.leaks import refuse_leaks
from autograder.release.nbgrader import (
    CELLS,
    CHECKING,
    helper_files,
    number,
    read_solutions,
    supply_lines,
)
from autograder.release.notebook import (
    IMPORTS,
    Form,
    assemble,
    cell_source,
    code,
    raw,
    to_bytes,
)
from autograder.storage import write_whole
from autograder.template import BEGIN, END, REQUIREMENTS, label_of

if TYPE_CHECKING:
    from nbformat import NotebookNode

MADE = "dist"  # the folder that `otter assign` fills
SUPPLIED = "supplied.py"
CONFIG = """\
# ASSIGNMENT CONFIG
name: {id}
requirements: requirements.txt
files:
  - {checking}
autograder_files:
  - {supplied}
tests:
  files: true
  ok_format: false
export_cell:
  pdf: false
  ignore_log: true
# Verdicts from a sandbox, in place of tests that run beside the student's code. The package
# `autograder` must be installed where otter runs. Take the two # away:
# plugins:
#   - autograder.platforms.otter.Sandbox"""


def build(declared: Assignment, out: Path) -> list[Path]:
    """Write the master into `out/otter`, and beside it what `otter assign` makes of it.

    Raises:
        KitError: a source cannot be read, `otter assign` fails or is not installed, or what it
            made for students holds something of the staff's.
    """
    folder = out / "otter"
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in build_master(declared).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    assign(declared, folder)
    return [folder]


def assign(assignment: Assignment, folder: Path) -> None:
    """Run `otter assign` on the master in a folder, its own check of the solutions included.

    Raises:
        KitError: it fails, is not installed, or leaks.
    """
    try:
        from otter.assign import main
    except ImportError:
        raise KitError(
            f"{folder} holds the master notebook only: otter-grader is not installed here."
            " Run `make setup-platforms`, and release again."
        ) from None
    try:
        main(str(folder / f"{assignment.id}.ipynb"), str(folder / MADE), no_pdfs=True)
    except Exception as error:
        raise KitError(f"otter assign has failed on {folder}: {error}") from error
    student = folder / MADE / "student"
    files = {
        path.relative_to(student).as_posix(): path.read_bytes()
        for path in sorted(student.rglob("*"))
        if path.is_file()
    }
    refuse_leaks(assignment, files)


def build_master(assignment: Assignment) -> dict[str, bytes]:
    """The master notebook and the files that it names: path to content."""
    lines = [line for line in supply_lines(assignment).values() if line]
    supplied = "\n".join([f"import {CELLS}", "", *dict.fromkeys(lines)]) + "\n"
    files = {f"{CHECKING}/{name}": data for name, data in helper_files(assignment).items()}
    return {
        f"{assignment.id}.ipynb": master_notebook(assignment),
        SUPPLIED: supplied.encode(),
        "requirements.txt": REQUIREMENTS.encode(),
        **files,
    }


def master_notebook(assignment: Assignment) -> bytes:
    """The notebook that `otter assign` reads."""
    tests = list_tests(assignment)
    alone = StandAlone(assignment)
    texts = read_solutions(assignment)

    def setup() -> list[NotebookNode]:
        return [code(IMPORTS, "setup")]

    def exercise(exercise: Exercise) -> list[NotebookNode]:
        source = cell_source(texts[exercise.file], assignment)
        name = exercise.id
        return [
            raw(f"# BEGIN QUESTION\nname: {name}", f"begin-{name}"),
            raw("# BEGIN SOLUTION", f"begin-solution-{name}"),
            code(_prompt(source, label_of(assignment, exercise)), f"exercise-{name}"),
            raw("# END SOLUTION", f"end-solution-{name}"),
        ]

    def checks(exercise: Exercise) -> list[NotebookNode]:
        name = exercise.id
        mine = [test for test in tests if test.exercise == name]
        return [
            raw("# BEGIN TESTS", f"begin-tests-{name}"),
            *(code(_test_case(test, alone), test.cell) for test in mine),
            raw("# END TESTS", f"end-tests-{name}"),
            raw("# END QUESTION", f"end-{name}"),
        ]

    notebook = assemble(assignment, Form(setup, exercise, checks))
    config = CONFIG.format(id=assignment.id, checking=CHECKING, supplied=SUPPLIED)
    notebook.cells.insert(0, raw(config, "config"))
    return to_bytes(notebook)


def _prompt(source: str, label: str) -> str:
    """Mark solutions so that a student finds our own stub in their place."""
    lines = []
    for line in source.splitlines():
        margin = line[: len(line) - len(line.lstrip())]
        if line.strip() == BEGIN:
            line += " NO PROMPT"
        lines.append(line)
        if line.strip() == END:
            lines.append(f'{margin}""" # BEGIN PROMPT')
            lines.append(f'{margin}raise NotImplementedError("{label}")')
            lines.append(f'{margin}""" # END PROMPT')
    return "\n".join(lines)


def _test_case(test: DeclaredTest, alone: StandAlone) -> str:
    lines = ['""" # BEGIN TEST CONFIG', f"points: {number(test.points)}"]
    lines += ["hidden: true"] * test.is_hidden
    # Otter finds test cases by the names of their functions, so these must differ.
    name = f"{'hidden' if test.is_hidden else 'public'}_{test.number}"
    lines += ['""" # END TEST CONFIG', f"def {name}(env):", f"    import {CELLS}"]
    if test.is_hidden:
        words = f"{test.title!r}, {test.hint!r}"
        lines.append(indent(alone.source_of(test)))
        lines.append(f'    {CELLS}.judge("{test.exercise}", {test.name}, env, {words})')
    else:
        lines.append(f'    {CELLS}.run("{test.id}", env)')
    return "\n".join(lines)
