"""The student's notebook, and the frame in which other platforms put theirs.

One text in jupytext's Markdown, `assignments/<id>/notebook.md`, says what stands in it. Three
kinds of its code cells are empty there and filled here: `setup=""`, `exercise="<id>"` and
`checks="<id>"`. What fills them depends on the form; without a text, all exercises stand below
each other.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.assignment import Assignment, Exercise
from autograder.errors import KitError, suggest_nearest
from autograder.release.leaks import refuse_leaks
from autograder.results import format_points
from autograder.storage import write_whole
from autograder.template import build_stubs

if TYPE_CHECKING:
    from nbformat import NotebookNode

SOURCE = "notebook.md"
ROLES = ("setup", "exercise", "checks")
IMPORTS = "import matplotlib.pyplot as plt\nimport torch\nfrom torch import nn"
SETUP = """\
import sys
import zipfile
from pathlib import Path

{imports}

# In a hosted notebook, upload student.zip next to this notebook: it is unpacked here.
if not Path("check.py").is_file() and not Path("{id}/check.py").is_file():
    zipfile.ZipFile("student.zip").extractall()
sys.path.insert(0, "." if Path("check.py").is_file() else "{id}")
from check import check"""


@dataclass(frozen=True)
class Form:
    """What a form puts into the three kinds of cells."""

    setup: Callable[[], list[NotebookNode]]
    exercise: Callable[[Exercise], list[NotebookNode]]
    checks: Callable[[Exercise], list[NotebookNode]]


def build(declared: Assignment, out: Path) -> list[Path]:
    """Write the student's notebook, `out/<id>.ipynb`.

    Raises:
        KitError: its source cannot be read, or something of the staff's would leak.
    """
    name = f"{declared.id}.ipynb"
    content = student_notebook(declared)
    refuse_leaks(declared, {name: content})
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / name, content)
    return [out / name]


def student_notebook(assignment: Assignment, sources: Mapping[str, str] | None = None) -> bytes:
    """The notebook as students get it, or with other `sources` (file name to text) written in."""
    texts = {**build_stubs(assignment), **(sources or {})}
    form = Form(
        setup=lambda: [code(SETUP.format(id=assignment.id, imports=IMPORTS), "setup")],
        exercise=lambda exercise: [
            code(cell_source(texts[exercise.file], assignment), f"exercise-{exercise.id}")
        ],
        checks=lambda exercise: [
            code(f'check("{exercise.id}", globals())', f"checks-{exercise.id}")
        ],
    )
    return to_bytes(assemble(assignment, form))


def assemble(assignment: Assignment, form: Form) -> NotebookNode:
    """Fill the text of an assignment's notebook.

    Raises:
        KitError: the text names an exercise that does not exist, or leaves one out.
    """
    import jupytext

    path = assignment.public_dir / SOURCE
    text = path.read_text(encoding="utf-8") if path.is_file() else _default_text(assignment)
    read: Any = jupytext.reads(text, fmt="md")
    cells: list[NotebookNode] = []
    seen: list[str] = []
    for number, cell in enumerate(read.cells, 1):
        roles = [role for role in ROLES if role in cell.metadata]
        if not roles:
            make = markdown if cell.cell_type == "markdown" else code
            cells.append(make(cell.source, f"cell-{number}"))
        elif roles == ["setup"]:
            cells += form.setup()
        else:
            exercise = _exercise_of(assignment, cell.metadata[roles[0]])
            seen.append(f"{roles[0]} {exercise.id}")
            cells += (form.exercise if roles == ["exercise"] else form.checks)(exercise)
    for wanted in (f"{role} {e.id}" for e in assignment.exercises for role in ROLES[1:]):
        if seen.count(wanted) != 1:
            raise KitError(f"{path} has {seen.count(wanted)} cells for {wanted}; it needs one.")
    return _frame(cells)


def program_notebook(text: str) -> bytes:
    """A program as a notebook: its text has jupytext's percent format, `# %%` before each cell."""
    import jupytext

    read: Any = jupytext.reads(text, fmt="py:percent")
    cells = [
        (markdown if cell.cell_type == "markdown" else code)(cell.source, f"cell-{number}")
        for number, cell in enumerate(read.cells, 1)
    ]
    return to_bytes(_frame(cells))


def _frame(cells: list[NotebookNode]) -> NotebookNode:
    import nbformat

    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    made: NotebookNode = nbformat.v4.new_notebook(cells=cells, metadata=metadata)  # type: ignore[no-untyped-call]
    return made


def _exercise_of(assignment: Assignment, exercise_id: str) -> Exercise:
    known = {exercise.id: exercise for exercise in assignment.exercises}
    if exercise_id not in known:
        hint = suggest_nearest(exercise_id, known)
        raise KitError(f"{SOURCE} of {assignment.id} names the exercise {exercise_id!r}; {hint}")
    return known[exercise_id]


def _default_text(assignment: Assignment) -> str:
    parts = [f"# {assignment.title}", '```python setup=""\n```']
    for number, exercise in enumerate(assignment.exercises, 1):
        parts.append(f"## {number}. {exercise.title} ({format_points(exercise.points)} points)")
        parts += [f'```python {role}="{exercise.id}"\n```' for role in ROLES[1:]]
    return "\n\n".join(parts) + "\n"


def cell_source(source: str, assignment: Assignment) -> str:
    """A file as a cell: without its docstring, and without imports of the other exercises."""
    siblings = {exercise.file.removesuffix(".py") for exercise in assignment.exercises}
    lines = source.splitlines()
    for node in ast.parse(source).body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        imported = (
            node.names if isinstance(node, ast.ImportFrom) and node.module in siblings else []
        )
        if is_text or imported:
            stated = [f"{name.asname} = {name.name}" for name in imported if name.asname]
            blank = [""] * ((node.end_lineno or node.lineno) - node.lineno)
            lines[node.lineno - 1 : node.end_lineno] = ["; ".join(stated), *blank]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip("\n")


def code(source: str, cell_id: str, **metadata: Any) -> NotebookNode:
    """A code cell that has not been run."""
    import nbformat

    made: NotebookNode = nbformat.v4.new_code_cell(source, id=_safe(cell_id), metadata=metadata)  # type: ignore[no-untyped-call]
    return made


def markdown(source: str, cell_id: str, **metadata: Any) -> NotebookNode:
    """A cell of text."""
    import nbformat

    made: NotebookNode = nbformat.v4.new_markdown_cell(source, id=_safe(cell_id), metadata=metadata)  # type: ignore[no-untyped-call]
    return made


def raw(source: str, cell_id: str) -> NotebookNode:
    """A cell that only tools read."""
    import nbformat

    made: NotebookNode = nbformat.v4.new_raw_cell(source, id=_safe(cell_id))  # type: ignore[no-untyped-call]
    return made


def to_bytes(notebook: NotebookNode) -> bytes:
    """A notebook as a file; the same notebook gives the same bytes.

    Raises:
        KitError: two of its cells have one id.
    """
    import nbformat

    ids = [cell["id"] for cell in notebook.cells]
    if len(set(ids)) != len(ids):
        raise KitError("two cells of the notebook have the same id.")
    nbformat.validate(notebook)
    return (json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def _safe(cell_id: str) -> str:
    """An id as notebooks allow it: up to 64 letters, digits, - and _."""
    return cell_id[-64:]
