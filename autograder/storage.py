"""The output folder: every file is there whole or not at all.

A student's `result.json` is written last of their files. It is the mark that the others
are there too, so an interrupted run is taken up where it stopped.
"""

import contextlib
import errno
import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from autograder import pictures, results
from autograder.assignment import Assignment
from autograder.errors import KitError, UnwritableFolder
from autograder.intake import Submission
from autograder.pictures import PICTURES
from autograder.report import make_feedback, render_feedback_html, render_feedback_md
from autograder.results import InvalidResult, Result

FEEDBACK = ("feedback.md", "feedback.html")
TIMINGS = "timings.json"
PARTIAL = ".{}.partial"
# Errors that every file meets, not only those of one student.
COMMON = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}
LOCK_SECONDS = 3.0  # the judges of a killed run are gone sooner


class Timings(msgspec.Struct):
    """The content of timings.json: how long the last run that judged took, and each student."""

    schema_version: Literal[2] = 2
    seconds: float = 0.0
    students: dict[str, float] = {}


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
            probe.unlink(missing_ok=True)  # another run that starts now may have removed it
        except OSError as error:
            raise KitError(
                f"{_explain(error, self.path)} Give another folder with --out."
            ) from error
        with _lock(self.path):
            for pattern in (PARTIAL, f"*/{PARTIAL}"):  # of a run that was killed
                for path in self.path.glob(pattern.format("*")):
                    with contextlib.suppress(OSError):
                        path.unlink()
            yield

    def read_result(self, assignment: Assignment, student: str) -> Result | None:
        """Return an earlier result, or None when there is none that can be used."""
        folder = self.path / student
        try:
            if any(not (folder / name).is_file() for name in FEEDBACK):
                return None
            result = results.decode((folder / "result.json").read_bytes())
        except (OSError, InvalidResult):
            return None
        is_theirs = (result.assignment, result.student) == (assignment.id, student)
        return result if is_theirs else None

    def write_result(
        self, assignment: Assignment, submission: Submission, result: Result, seen: bytes = b""
    ) -> None:
        """Write a student's files, `result.json` last; `seen` is their pictures.json, if any.

        Raises:
            UnwritableFolder: this student's files cannot be written.
            KitError: no file can be, as on a full disk.
        """
        shown = pictures.decode(seen)
        feedback = make_feedback(result, assignment, submission.notes, shown)
        pages = (render_feedback_md(feedback), render_feedback_html(feedback))
        folder = self.path / submission.student
        try:
            folder.mkdir(exist_ok=True)
            for name, page in zip(FEEDBACK, pages, strict=True):
                write_whole(folder / name, page.encode("utf-8", "replace"))
            if seen:
                write_whole(folder / PICTURES, seen)
            else:
                (folder / PICTURES).unlink(missing_ok=True)
            write_whole(folder / "result.json", results.encode(result))
        except OSError as error:
            kind = KitError if error.errno in COMMON else UnwritableFolder
            raise kind(_explain(error, folder)) from error

    def list_others(self, students: Iterable[str]) -> list[str]:
        """Return whose results are here from earlier runs, besides these students'."""
        known = {student.casefold() for student in students}
        found = (path.parent.name for path in self.path.glob("*/result.json"))
        return sorted(name for name in found if name.casefold() not in known)

    def read_timings(self) -> Timings:
        """Return what earlier runs have measured; nothing when that cannot be read."""
        try:
            return msgspec.json.decode((self.path / TIMINGS).read_bytes(), type=Timings)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return Timings()

    def write_timings(self, timings: Timings) -> None:
        """Write timings.json, students in the order of their ids."""
        timings.students = dict(sorted(timings.students.items()))
        self.write(TIMINGS, msgspec.structs.asdict(timings))

    def write(self, name: str, content: str | dict[str, object]) -> None:
        """Write a file about the whole class: text as it is, anything else as JSON."""
        if not isinstance(content, str):
            content = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        try:
            write_whole(self.path / name, content.encode("utf-8", "replace"))
        except OSError as error:
            raise KitError(_explain(error, self.path / name)) from error


def _explain(error: OSError, path: Path) -> str:
    """Say why nothing can be written at `path`, and what to do where that is known."""
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        return f"cannot write to {path}: there is a file where a folder is needed."
    if isinstance(error, IsADirectoryError):
        return f"cannot write {path}: there is a folder where a file is needed. Move it away."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"cannot write to {path}: {error.strerror}. Make room and run again: what is"
            " there is whole and will be kept."
        )
    return f"cannot write to {path}: {error.strerror}."


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that no reader ever sees a part of it."""
    partial = path.with_name(PARTIAL.format(path.name))
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # Windows: two runs at once are not noticed
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise KitError(
                        f"another run is writing to {folder}. Wait for it, or give another --out."
                    ) from None
                time.sleep(0.05)
            except OSError:  # a file system without locks
                break
        yield
    finally:
        os.close(handle)
