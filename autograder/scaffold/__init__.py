"""Lays down the skeleton of a new assignment, whose comments are the manual.

The skeleton is a whole assignment with one small exercise, so that every command works on it from
the start. What its author has to replace is marked `FILL IN`; `verify` finds the marks.
"""

from __future__ import annotations

import keyword
import sys
from collections.abc import Iterator
from pathlib import Path

from autograder.assignment import SAFE_ID, Assignment
from autograder.errors import KitError

MARK = "FILL IN"
SKELETON = Path(__file__).parent / "skeleton"
TAKEN = {"torch", "numpy", "pytest", "matplotlib", "einops", "autograder", "check", "checker"}
# Where each file goes; {a} is the assignment's id, {e} the exercise's.
PLACES = {
    "assignment.toml": "assignments/{a}/assignment.toml",
    "handout.md": "assignments/{a}/handout.md",
    "hints.toml": "assignments/{a}/hints.toml",
    "plots.py": "assignments/{a}/plots.py",
    "notebook.md": "assignments/{a}/notebook.md",
    "public_tests.py": "assignments/{a}/tests/test_{e}.py",
    "reference.py": "solutions/{a}/{e}.py",
    "hidden_tests.py": "solutions/{a}/tests/test_{e}.py",
    "faults.py": "solutions/{a}/faults.py",
    "right_loop.py": "solutions/{a}/gallery/right/loop/{e}.py",
    "right_loop.toml": "solutions/{a}/gallery/right/loop/case.toml",
    "wrong_backwards.py": "solutions/{a}/gallery/wrong/backwards/{e}.py",
    "wrong_backwards.toml": "solutions/{a}/gallery/wrong/backwards/case.toml",
    "wrong_float64.py": "solutions/{a}/gallery/wrong/float64/{e}.py",
    "wrong_float64.toml": "solutions/{a}/gallery/wrong/float64/case.toml",
    "wrong_not_divided.py": "solutions/{a}/gallery/wrong/not_divided/{e}.py",
    "wrong_not_divided.toml": "solutions/{a}/gallery/wrong/not_divided/case.toml",
}


def lay_down(root: Path, assignment_id: str, exercise_id: str) -> list[Path]:
    """Write the skeleton; return its files, those for students first.

    Raises:
        KitError: an id that cannot be used, or an assignment that is there already.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    for complaint in _find_complaints(root, assignment_id, exercise_id):
        raise KitError(complaint)
    environment = Environment(
        loader=FileSystemLoader(SKELETON),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # Python, TOML and Markdown; the ids are checked above
    )
    written = []
    for name, place in PLACES.items():
        path = root / place.format(a=assignment_id, e=exercise_id)
        text = environment.get_template(f"{name}.j2").render(
            assignment=assignment_id, exercise=exercise_id
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        written.append(path)
    return written


def _find_complaints(root: Path, assignment_id: str, exercise_id: str) -> Iterator[str]:
    for kind, name in (("assignment", assignment_id), ("exercise", exercise_id)):
        if not SAFE_ID.fullmatch(name) or keyword.iskeyword(name):
            yield f"{name!r} cannot be an {kind}'s id: use small letters, digits and _ only."
    if exercise_id in TAKEN or exercise_id in sys.stdlib_module_names:
        yield f"{exercise_id}.py would hide a module of that name; choose another exercise id."
    for folder in ("assignments", "solutions"):
        if (root / folder / assignment_id).exists():
            yield f"{folder}/{assignment_id} is there already. Choose another id, or remove it."


def find_marks(assignment: Assignment) -> Iterator[str]:
    """Yield what the skeleton's author has left to do: file, line and what it says."""
    for folder in (assignment.public_dir, assignment.solution_dir):
        for path in sorted(folder.rglob("*")):
            if path.suffix not in (".py", ".toml", ".md") or not path.is_file():
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                before, mark, rest = line.partition(MARK)
                if mark:
                    where = path.relative_to(assignment.root).as_posix()
                    yield f"{where}, line {number}: {mark}{rest}".rstrip(" ->*/")
