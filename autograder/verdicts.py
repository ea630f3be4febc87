"""From what a test raised to a verdict and to words, for the student and for staff."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from autograder.assignment import Exercise
from autograder.proxies import RemoteModule
from autograder.results import Verdict
from autograder.student_errors import MissingName, Stopped, StudentError

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
MAX_TEXT = 4000
MODULE_INTERFACE = {name for name in dir(RemoteModule) if not name.startswith("_")}


@dataclass(frozen=True)
class Outcome:
    """What became of one test.

    `open_text` may be shown for any test; `public_text` only where the test is public, since it
    can hold inputs and expected values; `detail` is for staff.
    """

    verdict: Verdict
    open_text: str = ""
    public_text: str = ""
    detail: str = ""
    is_unwritten: bool = False
    is_imported: bool = True

    def message_for_student(self, is_hidden: bool, hint: str) -> str:
        texts = [self.open_text] if is_hidden else [self.public_text or self.open_text]
        if self.verdict == "failed":
            texts.append(hint)
        return "\n".join(text for text in texts if text)


def of_exception(error: BaseException | None, assignment: str, exercise: Exercise) -> Outcome:
    """The outcome of a test of `exercise` that ended with `error`, or with None."""
    if error is None:
        return Outcome("passed")
    if isinstance(error, Stopped):
        return Outcome(error.verdict, error.message, detail=error.message, is_imported=False)
    if isinstance(error, MissingName):
        text = error.message
        return Outcome("missing", text, detail=text, is_imported=False)
    if isinstance(error, StudentError):
        return _of_student_error(error, assignment, exercise)
    text = ADDRESS.sub("", str(error))[:MAX_TEXT]
    if isinstance(error, AttributeError) and error.name in MODULE_INTERFACE:
        text = f"What should be a module is {type(error.obj).__name__}: it has no {error.name}."
        return Outcome("failed", text, detail=text)
    if isinstance(error, (AssertionError, pytest.fail.Exception)):
        return Outcome("failed", public_text=text, detail=text)
    text = f"{type(error).__name__}: {text}"
    return Outcome(
        "grader_error", "This test itself broke; your teacher has been told.", detail=text
    )


def _of_student_error(error: StudentError, assignment: str, exercise: Exercise) -> Outcome:
    # A stub says its exercise, or, where a tool cut it, that it is of this assignment.
    is_stub = error.message in (f"{assignment} / {exercise.id}", f"{assignment} / not yet written")
    in_own_file = bool(error.frames) and error.frames[-1][0] == exercise.file
    if isinstance(error, NotImplementedError) and is_stub and in_own_file:
        return unwritten()
    where = [f"{file}, line {line}: {text}" for file, line, text in error.frames]
    place = f" ({where[-1]})" if where else ""
    detail = ADDRESS.sub("", "\n".join([f"{error.type_name}: {error.message}", *where]))
    message = ADDRESS.sub("", f"Your code raised {error.type_name}: {error.message}{place}")
    # Of the words that the student's own code chose, none: they could carry inputs out.
    open_text = f"Your code raised {error.builtin}{place}."
    return Outcome("raised", open_text, message[:MAX_TEXT], detail[:MAX_TEXT])


def unwritten() -> Outcome:
    text = "Not yet written."
    return Outcome("missing", text, detail=text, is_unwritten=True)


def excused(outcome: Outcome) -> Outcome:
    """The outcome of a test that fails for an already charged mistake and for nothing else."""
    detail = f"Not charged: the diagnosed mistake alone makes this test fail.\n{outcome.detail}"
    return Outcome("passed", "Not charged: it fails for the mistake named above.", detail=detail)


def skipped() -> Outcome:
    text = "Not run: earlier tests of this exercise ran out of time or ended its process."
    return Outcome("skipped", text, detail=text)
