"""The output folder: every file is there whole or not at all.

A student's `result.json` is written last of their files. It is the mark that the others
are there too, so an interrupted run is taken up where it stopped.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from autograder import results
from autograder.assignment import Assignment
from autograder.errors import KitError
from autograder.intake import Submission
from autograder.report import make_feedback, render_feedback_html, render_feedback_md
from autograder.results import InvalidResult, Result

FEEDBACK = ("feedback.md", "feedback.html")


class OutputFolder:
    """Where results and reports go, and where earlier ones are found."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Make the folder and keep other runs out of it.

        Raises:
            KitError: it cannot be written, or another run is writing it.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            probe = self.path / ".writable"
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise KitError(
                f"cannot write to {self.path}: {error.strerror}. Give another folder with --out."
            ) from error
        with _lock(self.path):
            yield

    def read_result(self, assignment: Assignment, student: str) -> Result | None:
        """Return an earlier result, or None when there is none that can be used."""
        folder = self.path / student
        if any(not (folder / name).is_file() for name in FEEDBACK):
            return None
        try:
            result = results.decode((folder / "result.json").read_bytes())
        except (OSError, InvalidResult):
            return None
        is_theirs = (result.assignment, result.student) == (assignment.id, student)
        return result if is_theirs else None

    def write_result(self, assignment: Assignment, submission: Submission, result: Result) -> None:
        """Write a student's files, `result.json` last."""
        feedback = make_feedback(result, assignment, submission.notes)
        pages = (render_feedback_md(feedback), render_feedback_html(feedback))
        folder = self.path / submission.student
        try:
            folder.mkdir(exist_ok=True)
            for name, page in zip(FEEDBACK, pages, strict=True):
                write_whole(folder / name, page.encode("utf-8", "replace"))
            write_whole(folder / "result.json", results.encode(result))
        except OSError as error:
            raise KitError(f"cannot write to {folder}: {error.strerror}.") from error

    def write(self, name: str, content: str | dict[str, object]) -> None:
        """Write a file about the whole class: text as it is, anything else as JSON."""
        if not isinstance(content, str):
            content = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        try:
            write_whole(self.path / name, content.encode("utf-8", "replace"))
        except OSError as error:
            raise KitError(f"cannot write {self.path / name}: {error.strerror}.") from error


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that no reader ever sees a part of it."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_bytes(data)
    os.replace(partial, path)


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # Windows: two runs at once are not noticed
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise KitError(
                f"another run is writing to {folder}. Wait for it, or give another --out."
            ) from None
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(handle)
