"""An assignment as its author declares it in `assignments/<id>/assignment.toml`.

Reading a declaration runs nothing. Points are stated, never inferred; units are in
the key. A key that does not exist is an error that names the nearest one that does.
"""

import re
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from autograder import lateness
from autograder.errors import BrokenAssignment, KitError, UnknownAssignment, suggest_nearest
from autograder.lateness import Deadline
from autograder.results import exact, format_points, sum_points

DECLARATION = "assignment.toml"
SAFE_ID = re.compile(r"[a-z][a-z0-9_]{0,59}")
SAFE_FILE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}\.py")


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What one submission may use. Each limit, when hit, is a verdict of its own."""

    import_wall_seconds: float = 20.0
    test_wall_seconds: float = 10.0
    cpu_seconds: float = 60.0
    memory_mib: int = 2048
    processes: int = 64
    file_mib: int = 16


class Exercise(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One file that the student writes, and what it is worth."""

    id: str
    title: str
    file: str
    names: tuple[str, ...]  # public names that the file defines
    student_writes: tuple[str, ...]  # "function", "Class.method" or "Class"
    points: Decimal
    public_points: Decimal
    uses: tuple[str, ...] = ()  # exercises whose file this one imports


class Declaration(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The keys of assignment.toml."""

    id: str
    title: str
    points: Decimal
    limits: Limits = Limits()
    deadline: Deadline | None = None
    exercises: tuple[Exercise, ...]


class Assignment(Declaration, frozen=True, kw_only=True):
    """A declaration that has been checked, and where its files are."""

    root: Path

    @property
    def public_dir(self) -> Path:
        """Everything of it that a student may see."""
        return self.root / "assignments" / self.id

    @property
    def solution_dir(self) -> Path:
        """Everything of it that only staff may see."""
        return self.root / "solutions" / self.id

    @property
    def template_dir(self) -> Path:
        """What is handed out; built, never edited."""
        return self.root / "student_template" / self.id

    @property
    def public_tests(self) -> Path:
        """The folder of the public tests."""
        return self.public_dir / "tests"

    @property
    def hidden_tests(self) -> Path:
        """The folder of the hidden tests."""
        return self.solution_dir / "tests"

    @property
    def gallery_dir(self) -> Path:
        """The folder of submissions, right, wrong and hostile, with known verdicts."""
        return self.solution_dir / "gallery"

    @property
    def files(self) -> dict[str, Exercise]:
        """The files that a student hands in, by name, in the order of the exercises."""
        return {exercise.file: exercise for exercise in self.exercises}

    def exercise(self, exercise_id: str) -> Exercise:
        """Return the exercise of that id.

        Raises:
            KitError: there is none; the message names the nearest.
        """
        for exercise in self.exercises:
            if exercise.id == exercise_id:
                return exercise
        known = [exercise.id for exercise in self.exercises]
        hint = suggest_nearest(exercise_id, known)
        raise KitError(f"{self.id} has no exercise {exercise_id!r}; {hint}")


def find_root(start: Path | None = None) -> Path:
    """Find the kit's folder: beside the installed package, else from `start` (here) upward.

    Raises:
        KitError: no folder `assignments/` in any of these places.
    """
    if start is None:
        beside = Path(__file__).resolve().parent.parent
        if (beside / "assignments").is_dir():
            return beside
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "assignments").is_dir():
            return folder
    raise KitError(
        f"no folder assignments/ in {here} or above it. Run this in the folder of the kit."
    )


def list_assignments(root: Path) -> list[str]:
    """Return the ids of all declared assignments, sorted."""
    return sorted(path.parent.name for path in (root / "assignments").glob(f"*/{DECLARATION}"))


def load(assignment_id: str, root: Path | None = None, *, is_complete: bool = True) -> Assignment:
    """Read and check an assignment; `is_complete=False` lets its other files be missing.

    Raises:
        UnknownAssignment: none of that name; the message names the nearest.
        BrokenAssignment: the declaration is wrong or promises a file that is not there.
    """
    root = find_root() if root is None else root
    known = list_assignments(root)
    if assignment_id not in known:
        hint = suggest_nearest(assignment_id, known)
        raise UnknownAssignment(f"there is no assignment {assignment_id!r}; {hint}")
    path = root / "assignments" / assignment_id / DECLARATION
    where = str(path.relative_to(root))
    table = _read_table(path, where)
    for complaint in _find_unknown_keys(table):
        raise BrokenAssignment(f"{where}: {complaint}")
    try:
        declared = msgspec.convert(table, Declaration, strict=True)
    except msgspec.ValidationError as error:
        raise BrokenAssignment(f"{where}: {_rephrase(str(error))}") from error
    for complaint in _find_mistakes(declared, assignment_id):
        raise BrokenAssignment(f"{where}: {complaint}")
    fields = {name: getattr(declared, name) for name in Declaration.__struct_fields__}
    assignment = Assignment(**fields, root=root)
    if is_complete:
        for missing in list_missing_files(assignment):
            raise BrokenAssignment(f"{where} promises {missing}, which is not there.")
    return assignment


def list_missing_files(assignment: Assignment) -> list[str]:
    """Return the files that the declaration promises and that do not exist, from the root."""
    promised: list[Path] = [assignment.public_dir / "handout.md"]
    for exercise in assignment.exercises:
        test_file = f"test_{exercise.id}.py"
        promised.append(assignment.solution_dir / exercise.file)
        if exercise.public_points:
            promised.append(assignment.public_tests / test_file)
        if exercise.points > exercise.public_points:
            promised.append(assignment.hidden_tests / test_file)
    return [str(path.relative_to(assignment.root)) for path in promised if not path.is_file()]


def _read_table(path: Path, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BrokenAssignment(f"{where} is not TOML in UTF-8: {error}") from error


def _find_unknown_keys(table: dict[str, Any]) -> Iterator[str]:
    parts: list[tuple[str, Any, type[msgspec.Struct]]] = [("", table, Declaration)]
    parts.append(("[limits] ", table.get("limits"), Limits))
    parts.append(("[deadline] ", table.get("deadline"), Deadline))
    exercises = table.get("exercises")
    for number, part in enumerate(exercises if isinstance(exercises, list) else [], 1):
        parts.append((f"[[exercises]] number {number} ", part, Exercise))
    for place, part, struct in parts:
        for key in part if isinstance(part, dict) else ():
            if key not in struct.__struct_fields__:
                hint = suggest_nearest(key, struct.__struct_fields__)
                yield f"{place}has an unknown key {key!r}; {hint}".removeprefix(" ")


def _rephrase(message: str) -> str:
    """Put msgspec's words into the author's: keys, not JSON paths."""
    message = re.sub(r" - at `\$\.?(.*?)`$", r" (at \1)", message)
    return message.replace("Object missing required field", "lacks the key")


def _find_mistakes(declared: Declaration, folder: str) -> Iterator[str]:
    """Yield what types cannot say, in the order in which an author would mend it."""
    if declared.id != folder:
        yield f"id is {declared.id!r}, but the folder is {folder!r}; make them the same."
    if not declared.exercises:
        yield "has no [[exercises]]; declare at least one."
    limits = {name: getattr(declared.limits, name) for name in Limits.__struct_fields__}
    for name, limit in limits.items():
        if not 0 < limit < 1e9:
            yield f"[limits] {name} is {limit}; it must be above 0."
    if declared.deadline is not None:
        for complaint in lateness.find_mistakes(declared.deadline):
            yield f"[deadline] {complaint}"
    seen: dict[str, set[str]] = {"id": set(), "file": set(), "name": set()}
    for exercise in declared.exercises:
        yield from _find_exercise_mistakes(exercise, seen)
    worths = [("points", declared.points)]
    for exercise in declared.exercises:
        worths.append((f"points of {exercise.id}", exercise.points))
        worths.append((f"public_points of {exercise.id}", exercise.public_points))
    for name, worth in worths:
        try:
            exact(worth)
        except ValueError as error:
            yield f"{name}: {error}"
    total = sum_points(exercise.points for exercise in declared.exercises)
    if total != declared.points:
        yield (
            f"points is {format_points(declared.points)}, but the exercises' points"
            f" add up to {format_points(total)}."
        )


def _find_exercise_mistakes(exercise: Exercise, seen: dict[str, set[str]]) -> Iterator[str]:
    """Yield the mistakes of one exercise; `seen` holds what earlier ones have taken."""
    if not SAFE_ID.fullmatch(exercise.id):
        yield f"exercise id {exercise.id!r}: use small letters, digits and _ only."
    if not SAFE_FILE.fullmatch(exercise.file):
        yield f"file {exercise.file!r} of {exercise.id}: use a plain name such as {exercise.id}.py."
    if not exercise.names:
        yield f"{exercise.id} has no names; list what {exercise.file} defines."
    taken = [("id", exercise.id), ("file", exercise.file)]
    taken += [("name", name) for name in exercise.names]
    for kind, value in taken:
        if value.casefold() in seen[kind]:
            yield f"the {kind} {value!r} is taken twice; every exercise needs its own."
        seen[kind].add(value.casefold())
    for part in exercise.student_writes:
        if part.split(".")[0] not in exercise.names:
            hint = suggest_nearest(part.split(".")[0], exercise.names)
            yield f"student_writes of {exercise.id} has {part!r}, which names does not; {hint}"
    for used in exercise.uses:
        if used == exercise.id or used.casefold() not in seen["id"]:
            yield f"{exercise.id} uses {used!r}, which is not an exercise above it."
    if exercise.public_points > exercise.points:
        yield f"{exercise.id} has more public_points than points."
