"""What goes wrong in a worker, as exceptions here.

What student code raises is raised here as `StudentError`, which is also the builtin type that it
was there (so `pytest.raises(ValueError)` works). A worker that dies, hangs, runs out of memory or
breaks the protocol raises a `Stopped`, which `except Exception` does not catch.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence

from autograder import protocol
from autograder.results import Verdict

Frame = tuple[str, int, str]  # file, line, text of the line
MEMORY_SIGNS = ("can't allocate memory", "cannot allocate memory", "not enough memory", "bad_alloc")


class StudentError(Exception):
    """Student code raised: `type_name`, `message`, and the `frames` that are the student's own.

    `builtin` is the builtin type that it was: unlike the other two, no text of the worker's choice.
    """

    builtin = "Exception"

    def __init__(
        self, type_name: str, message: str, frames: Sequence[Frame], builtin: str = "Exception"
    ) -> None:
        super().__init__(f"{type_name}: {message}")
        self.type_name = type_name
        self.message = message
        self.frames = list(frames)
        self.builtin = builtin


class MissingName(StudentError):
    """The submission does not define a name, or has no such file."""


class Stopped(BaseException):
    """The worker came to an end: `verdict` and a `message` for the student."""

    def __init__(self, message: str, verdict: Verdict = "crashed") -> None:
        super().__init__(message)
        self.message = message
        self.verdict = verdict


def read_error(error: object, files: Mapping[str, str], memory_mib: int) -> StudentError | Stopped:
    """An exception that a worker describes, as far as it is to be believed.

    Raises:
        protocol.Violation: it is described in no known form.
    """
    match error:
        case {
            "type": str(type_name),
            "message": str(message),
            "bases": list(bases),
            "frames": list(frames),
        }:
            pass
        case _:
            raise protocol.Violation("an exception in no known form")
    if type_name == "MemoryError" or (
        "RuntimeError" in bases and any(sign in message for sign in MEMORY_SIGNS)
    ):
        text = f"Your code asked for more memory than the {memory_mib} MiB it may use."
        return Stopped(text, "out_of_memory")
    own = [found for frame in frames[:8] for found in _read_frame(frame, files)]
    error_class = _error_class(bases)
    text = protocol.printable(message[:2000])
    return error_class(protocol.printable(type_name[:100]), text, own, error_class.builtin)


def _read_frame(frame: object, files: Mapping[str, str]) -> Iterator[Frame]:
    """A frame as far as the submission itself bears it out: its file, its line, its text."""
    match frame:
        case [str(file), int(line), str(), str()] if file in files:
            lines = files[file].splitlines()
            if 1 <= line <= len(lines):
                yield file, line, lines[line - 1].strip()[:200]


_CLASSES: dict[str, type[StudentError]] = {}


def _error_class(bases: Sequence[object]) -> type[StudentError]:
    """`StudentError`, and also the nearest builtin exception type that the error was."""
    for name in bases:
        base = getattr(builtins, str(name), None)
        if not (isinstance(base, type) and issubclass(base, Exception)):
            continue
        if str(name) not in _CLASSES:
            try:
                made = type("StudentError", (StudentError, base), {"builtin": str(name)})
                made("", "", [])
            except TypeError:  # a type with a layout or a constructor of its own
                continue
            _CLASSES[str(name)] = made
        return _CLASSES[str(name)]
    return StudentError
