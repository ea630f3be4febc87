"""What is in this folder: the exercises as they are graded, their files and hints."""

from __future__ import annotations

import importlib.util
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent
TESTS = FOLDER / "tests"
LEVELS = 3
PACKAGES = ("torch", "numpy", "pytest")
FRESH = "Unpack the handed-out folder anew and copy your own files into it."


class Problem(Exception):
    """What was asked for cannot be done; the message says why and what to do."""


def _read() -> dict[str, Any]:
    try:
        assignment = json.loads((TESTS / "graded.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        sys.exit(f"tests/graded.json cannot be read: {error}\n{FRESH}")
    for number, exercise in enumerate(assignment["exercises"], 1):
        exercise["number"] = number
    return dict(assignment)


ASSIGNMENT = _read()
EXERCISES: list[dict[str, Any]] = ASSIGNMENT["exercises"]


def choose(asked: str) -> list[dict[str, Any]]:
    """The exercise of that id, file, number or defined name; all of them for "".

    Raises:
        Problem: there is none.
    """
    if not asked:
        return EXERCISES
    for exercise in EXERCISES:
        known = {exercise["id"], exercise["file"], str(exercise["number"]), *exercise["names"]}
        if asked in known:
            return [exercise]
    listed = "".join(f"\n  {e['number']}  {e['id']}" for e in EXERCISES)
    raise Problem(f"There is no exercise {asked!r}. There are:{listed}")


def require_packages() -> None:
    """Make sure that what the tests need is installed, without importing it.

    Raises:
        Problem: something is not.
    """
    missing = []
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or Path(spec.origin or "").parent == FOLDER:
            missing.append(name)
    if missing:
        raise Problem(
            f"Not installed for {sys.executable}: {', '.join(missing)}.\n"
            "Run: python -m pip install -r requirements.txt"
        )


def hints_of(exercise_id: str) -> list[str]:
    """The hints for an exercise, from a question to almost the answer."""
    import tomllib

    path = FOLDER / "checker" / "hints.toml"
    if not path.is_file():
        return []
    return list(tomllib.loads(path.read_text(encoding="utf-8")).get(exercise_id, []))


def hint(exercise_id: str, level: int) -> str:
    """One hint, as it is shown."""
    hints = hints_of(exercise_id)
    if not hints:
        return "There are no hints for this exercise. Read its part of handout.html again."
    text = " ".join(hints[min(level, len(hints)) - 1].split())
    return textwrap.fill(f"Hint {min(level, len(hints))} of {len(hints)}: {text}", 88)
