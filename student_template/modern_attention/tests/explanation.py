"""What a test says about your work, in words: what was promised, what came, what to ask next."""

from __future__ import annotations

import re
import traceback
from pathlib import Path
from typing import Any, TypedDict

from student_files import EXERCISES, FOLDER, NotImported, NotThere
from time_limit import TooSlow

MAX_TEXT = 300
COMMENTS = {
    "same dtype|scalar type": (
        "Float is float32, as all weights are; Double is float64, which NumPy makes. "
        "Which of your tensors is not float32?"
    ),
    "shapes cannot be multiplied|must match the size|size of tensor|shape .* is invalid": (
        "Print the shapes just before this line: which axis is not where you think it is?"
    ),
    "EOF when reading": "Nothing can be typed in while tests run: take `input` out.",
    "does not require grad": "Where does the way from the weights to the answer leave PyTorch?",
}


class Told(TypedDict):
    """One test's account, for `check.py` and for pytest's own output."""

    exercise: str
    test: str
    title: str
    points: float
    verdict: str  # passed, failed, raised, missing, unwritten, waits or too_slow
    lines: list[str]
    question: str
    printed: list[str]


def tell(exercise: str, test: str, graded: dict[str, Any], error: BaseException | None) -> Told:
    """Put the end of a test into words: `error` is what it raised, or None."""
    told: Told = {
        "exercise": exercise,
        "test": test,
        "title": graded["title"],
        "points": float(graded["points"]),
        "verdict": "passed",
        "lines": [],
        "question": "",
        "printed": [],
    }
    if error is None:
        return told
    told["verdict"], told["lines"] = judge(exercise, error)
    if told["verdict"] == "failed":
        told["question"] = graded.get("hint", "")
    return told


def judge(exercise: str, error: BaseException) -> tuple[str, list[str]]:
    """The verdict on what a test raised, and what to say of it."""
    cause = error.__cause__ if isinstance(error, NotImported) else error
    unwritten = find_unwritten(cause)
    if unwritten is not None:
        if unwritten["id"] == exercise:
            return "unwritten", ["not yet written"]
        return "waits", [f"it needs {', '.join(unwritten['writes'])}, which is not yet written"]
    if isinstance(cause, NotThere):
        return "missing", [str(cause)]
    if isinstance(cause, TooSlow):
        return "too_slow", [str(cause) or "this takes too long", *place_of(cause)]
    if isinstance(error, AssertionError) and not is_own(error):
        return "failed", shorten(str(error)).splitlines()
    first = shorten(f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__)
    lines = first.splitlines()
    if isinstance(error, NotImported):
        lines.insert(0, f"{error} cannot be imported")
    if isinstance(cause, SyntaxError) and cause.lineno:
        name, text = Path(cause.filename or "").name, (cause.text or "").strip()
        place = f"{name}, line {cause.lineno}: {text}"
        return "raised", [lines[0], f"SyntaxError: {cause.msg}", place]
    return "raised", [*lines, *place_of(cause), *comment_on(str(cause))]


def comment_on(message: str) -> list[str]:
    """A line more on errors of PyTorch's that say little to a beginner."""
    return [comment for pattern, comment in COMMENTS.items() if re.search(pattern, message)][:1]


def find_unwritten(error: BaseException | None) -> dict[str, Any] | None:
    """The exercise whose stub raised `error`, if it was a stub: any other file is written."""
    if not isinstance(error, NotImplementedError):
        return None
    return next((e for e in EXERCISES if e["label"] == str(error)), None)


def place_of(error: BaseException | None) -> list[str]:
    """The line of yours at which `error` arose, as a line of text, if there is one."""
    frames = own_frames(error)
    if not frames:
        return []
    frame = frames[-1]
    name = Path(frame.filename).name
    return [f"{name}, line {frame.lineno}: {shorten(frame.line or '')}"]


def own_frames(error: BaseException | None) -> list[traceback.FrameSummary]:
    """The calls in your files, or in a notebook's cells, that led to `error`."""
    frames = traceback.extract_tb(error.__traceback__) if error is not None else []
    files = {str(FOLDER / exercise["file"]) for exercise in EXERCISES}
    return [f for f in frames if f.filename in files or "ipykernel" in f.filename]


def is_own(error: BaseException) -> bool:
    """Say whether an `assert` of yours, rather than a test's, has raised `error`."""
    own = own_frames(error)
    return bool(own) and traceback.extract_tb(error.__traceback__)[-1] == own[-1]


def shorten(text: str) -> str:
    """The beginning of a text that may be long."""
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]} ..."
