"""Builds what students get, `student_template/<id>/`, from the solution and the public files.

The reference is the only source of every stub: what stands between `# BEGIN SOLUTION` and
`# END SOLUTION` is replaced by a line that says that it is not written yet. Nothing else of the
staff's side is read, but the number of hidden tests and their points.
"""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path

from autograder.assignment import Assignment, Exercise
from autograder.errors import KitError
from autograder.results import format_points

BEGIN, END = "# BEGIN SOLUTION", "# END SOLUTION"
MARK = "graded"
AT_THE_TOP = ("check.py", "Makefile", "pytest.ini")  # of what all assignments share
OWN_PIECES = ("hints.toml", "plots.py")  # what an assignment gives to the checker
EXPLORE = "explore"  # optional and not graded; its programs go out as notebooks, too
REQUIREMENTS = "torch>=2.1\nnumpy\npytest>=8\nmatplotlib>=3.8\n"


def build_template(assignment: Assignment) -> dict[str, str]:
    """The files of the template: path from its root, with slashes, to text.

    Raises:
        KitError: a file is missing, or its markers do not pair up.
    """
    from autograder import handout
    from autograder.release.notebook import program_notebook, student_notebook

    text, figures = handout.compose(assignment), handout.read_figures(assignment)
    files = {"handout.md": text, "handout.html": handout.render(text, figures), **figures}
    files[f"{assignment.id}.ipynb"] = student_notebook(assignment).decode()
    files |= build_stubs(assignment)
    files["requirements.txt"] = REQUIREMENTS
    shared = assignment.root / "assignments" / "checking"
    for path in _list_files(shared, "*"):
        files[path.name if path.name in AT_THE_TOP else f"tests/{path.name}"] = _read(path)
    for path in _list_files(shared / "checker", "*.py"):
        files[f"checker/{path.name}"] = _read(path)
    for name in OWN_PIECES:
        if (assignment.public_dir / name).is_file():
            files[f"checker/{name}"] = _read(assignment.public_dir / name)
    for path in _list_files(assignment.public_tests, "*.py"):
        files[f"tests/{path.name}"] = _read(path)
    for path in _list_files(assignment.public_dir / EXPLORE, "*"):
        files[f"{EXPLORE}/{path.name}"] = _read(path)
        if path.suffix == ".py":
            files[f"{EXPLORE}/{path.stem}.ipynb"] = program_notebook(_read(path)).decode()
    files["tests/graded.json"] = json.dumps(_describe(assignment), indent=2) + "\n"
    return files


def build_stubs(assignment: Assignment) -> dict[str, str]:
    """The files that students complete: name to text, in the order of the exercises.

    Raises:
        KitError: a file is missing, or its markers do not pair up.
    """
    stubs = {}
    for exercise in assignment.exercises:
        source = _read(assignment.solution_dir / exercise.file)
        stubs[exercise.file] = cut_stub(source, exercise.file, label_of(assignment, exercise))
    return stubs


def label_of(assignment: Assignment, exercise: Exercise) -> str:
    """What the NotImplementedError of an exercise that is not yet written says."""
    return f"{assignment.id} / {exercise.id}"


def cut_stub(source: str, name: str, label: str) -> str:
    """Replaces every marked region of `source` by one `raise NotImplementedError(label)`.

    Raises:
        KitError: a marker without its partner, an empty region, or no region at all.
    """
    kept: list[str] = []
    begun = 0  # the line of the open BEGIN marker
    regions = 0
    for number, line in enumerate(source.splitlines(), 1):
        word = line.strip()
        if word.startswith(BEGIN):
            if begun:
                raise KitError(f"{name}, line {number}: {BEGIN} inside the region of line {begun}.")
            begun, regions = number, regions + 1
            indent = line[: len(line) - len(line.lstrip())]
            kept.append(f'{indent}raise NotImplementedError("{label}")')
        elif word.startswith(END):
            if not begun:
                raise KitError(f"{name}, line {number}: {END} without a {BEGIN} before it.")
            begun = 0
        elif not begun:
            kept.append(line)
    if begun:
        raise KitError(f"{name}, line {begun}: {BEGIN} without a {END} after it.")
    if not regions:
        raise KitError(f"{name} has no {BEGIN}: there is nothing for a student to write.")
    stub = "\n".join(kept) + "\n"
    try:
        ast.parse(stub)
    except SyntaxError as error:
        raise KitError(f"{name}: the stub cut from it is not Python: {error}.") from None
    return stub


def write_template(assignment: Assignment) -> list[str]:
    """Writes the template folder anew; returns the paths in it that changed."""
    built = build_template(assignment)
    stale = stale_files(assignment, built)
    folder = assignment.template_dir
    if stale:
        shutil.rmtree(folder, ignore_errors=True)
        for name, text in built.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
    return stale


def stale_files(assignment: Assignment, built: dict[str, str] | None = None) -> list[str]:
    """The files of the template folder that differ from what the sources build."""
    built = build_template(assignment) if built is None else built
    folder = assignment.template_dir
    found = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and ".pytest_cache" not in path.parts
    }
    differing = [
        name
        for name, text in built.items()
        if name not in found or found[name].read_text(encoding="utf-8") != text
    ]
    return sorted([*differing, *(name for name in found if name not in built)])


def _describe(assignment: Assignment) -> dict[str, object]:
    """What the student's own run of the public tests needs to know."""
    return {
        "id": assignment.id,
        "title": assignment.title,
        "points": format_points(assignment.points),
        "import_seconds": assignment.limits.import_wall_seconds,
        "test_seconds": assignment.limits.test_wall_seconds,
        "exercises": [
            {
                "id": exercise.id,
                "title": exercise.title,
                "file": exercise.file,
                "names": list(exercise.names),
                "writes": list(exercise.student_writes),
                "uses": list(exercise.uses),
                "label": label_of(assignment, exercise),
                "public_points": format_points(exercise.public_points),
                "hidden_points": format_points(exercise.points - exercise.public_points),
                "hidden_tests": _count_tests(assignment, exercise),
            }
            for exercise in assignment.exercises
        ],
    }


def _count_tests(assignment: Assignment, exercise: Exercise) -> int:
    """How many hidden tests an exercise has, without running anything."""
    path = assignment.hidden_tests / f"test_{exercise.id}.py"
    if not path.is_file():
        return 0
    tree = ast.parse(_read(path))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return sum(node.name.startswith("test_") for node in functions)


def _list_files(folder: Path, pattern: str) -> list[Path]:
    return sorted(path for path in folder.glob(pattern) if path.is_file())


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise KitError(f"{path} cannot be read: {error.strerror}.") from None
