"""What a result depends on, as one number: the same digest means nothing to grade anew."""

import hashlib
import platform
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import msgspec

import autograder
from autograder.assignment import DECLARATION, Assignment, Declaration
from autograder.intake import Submission

_PACKAGES = ("torch", "numpy", "pytest", "einops", "matplotlib")  # in the worker or the tests
_SOURCES = {".py", ".toml", ".j2", ".css", ".js"}


class Parts(msgspec.Struct, frozen=True):
    """A digest, and the digests of what it is made of."""

    digest: str  # of all below
    rest: str  # the submission, and everything that judges it besides the tests of exercises
    exercises: dict[str, str]  # the tests of each


class Digester:
    """Knows the assignment and the engine by their bytes, and digests submissions."""

    def __init__(self, assignment: Assignment) -> None:
        tests = {
            exercise.id: _list_tests(assignment, exercise.id) for exercise in assignment.exercises
        }
        own = {path for paths in tests.values() for path in paths}
        state = hashlib.sha256()
        _add(state, autograder.__version__, platform.python_version(), platform.machine())
        for package in _PACKAGES:
            _add(state, package, _find_version(package))
        engine = Path(autograder.__file__).parent
        for path in (*_list_files(engine), *_list_assignment(assignment)):
            is_ours = path.is_relative_to(engine)
            name = path.relative_to(engine.parent if is_ours else assignment.root)
            if path not in own:
                _add(state, name.as_posix(), path.read_bytes())
        # Of the declaration all that judges: a deadline that moves changes no result.
        fields = {name: getattr(assignment, name) for name in Declaration.__struct_fields__}
        _add(state, msgspec.json.encode({**fields, "deadline": None}))
        self._state = state
        self._tests: dict[str, str] = {}
        for exercise, paths in tests.items():
            about = hashlib.sha256()
            for path in paths:
                name = path.relative_to(assignment.root)
                _add(about, name.as_posix(), path.read_bytes())
            self._tests[exercise] = about.hexdigest()

    @property
    def kit(self) -> str:
        """The digest of all that judges: the engine and the assignment, tests included."""
        state = self._state.copy()
        for exercise, tests in sorted(self._tests.items()):
            _add(state, exercise, tests)
        return state.hexdigest()

    def digest(self, submission: Submission) -> str:
        """Return the digest of one submission: its files and all that they are judged by."""
        return self.split(submission).digest

    def split(self, submission: Submission) -> Parts:
        """Return the digest of one submission with its parts."""
        state = self._state.copy()
        _add(state, submission.student, submission.ungradable, *submission.notes)
        for name, data in sorted(submission.files.items()):
            _add(state, name, data)
        rest = state.hexdigest()
        for exercise, tests in sorted(self._tests.items()):
            _add(state, exercise, tests)
        return Parts(state.hexdigest(), rest, dict(self._tests))


def _list_assignment(assignment: Assignment) -> Iterator[Path]:
    """Yield everything that judges: declaration, tests, reference, faults, shared checks."""
    for path in _list_files(assignment.public_dir):
        # What students only look at judges nobody.
        if path.name != DECLARATION and not path.is_relative_to(assignment.public_dir / "explore"):
            yield path
    yield from _list_files(assignment.root / "assignments" / "checking")
    for folder in (assignment.public_tests, assignment.hidden_tests):
        yield from _list_data(folder)
    for path in _list_files(assignment.solution_dir):
        if not path.is_relative_to(assignment.gallery_dir):
            yield path


def _list_tests(assignment: Assignment, exercise: str) -> list[Path]:
    """Return the files with the tests of one exercise, unless another file makes use of them."""
    name = f"test_{exercise}"
    folders = (assignment.public_tests, assignment.hidden_tests)
    others = [path for folder in folders for path in _list_files(folder) if path.stem != name]
    if any(name.encode() in path.read_bytes() for path in others):
        return []
    return [path for folder in folders if (path := folder / f"{name}.py").is_file()]


def _list_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in _SOURCES and path.is_file())


def _list_data(folder: Path) -> list[Path]:
    """What tests may read beside the sources."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.suffix not in _SOURCES)
    return sorted(path for path in found if "__pycache__" not in path.parts)


def _find_version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _add(state: "hashlib._Hash", *parts: str | bytes) -> None:
    """Add parts so that no two lists of parts look the same."""
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
