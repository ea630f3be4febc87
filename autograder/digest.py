"""What a result depends on, as one number: the same digest means nothing to grade anew."""

import hashlib
import platform
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import autograder
from autograder.assignment import Assignment
from autograder.intake import Submission

_PACKAGES = ("torch", "numpy", "pytest")
_SOURCES = {".py", ".toml", ".j2", ".css"}


class Digester:
    """Knows the assignment and the engine by their bytes, and digests submissions."""

    def __init__(self, assignment: Assignment) -> None:
        state = hashlib.sha256()
        _add(state, autograder.__version__, platform.python_version(), platform.machine())
        for package in _PACKAGES:
            _add(state, package, _find_version(package))
        engine = Path(autograder.__file__).parent
        for path in (*_list_files(engine), *_list_assignment(assignment)):
            is_ours = path.is_relative_to(engine)
            name = path.relative_to(engine.parent if is_ours else assignment.root)
            _add(state, name.as_posix(), path.read_bytes())
        self._state = state

    def digest(self, submission: Submission) -> str:
        """Return the digest of one submission: its files and all that they are judged by."""
        state = self._state.copy()
        _add(state, submission.student, submission.ungradable, *submission.notes)
        for name, data in sorted(submission.files.items()):
            _add(state, name, data)
        return state.hexdigest()


def _list_assignment(assignment: Assignment) -> Iterator[Path]:
    """Yield everything that judges: declaration, tests, reference, faults, shared checks."""
    yield from _list_files(assignment.public_dir)
    yield from _list_files(assignment.root / "assignments" / "checking")
    for path in _list_files(assignment.solution_dir):
        if not path.is_relative_to(assignment.gallery_dir):
            yield path


def _list_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in _SOURCES and path.is_file())


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
