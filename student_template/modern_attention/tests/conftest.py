"""Lets the public tests run in plain pytest, beside your own files: `python -m pytest`.

The tests ask for `submission`: an object whose attributes are the classes and functions
that you wrote. When your work is graded the same tests run against a copy of your files.
"""

from __future__ import annotations

import importlib
import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

TESTS = Path(__file__).resolve().parent
FOLDER = TESTS.parent
EXERCISES: list[dict[str, Any]] = []
if (TESTS / "graded.json").is_file():
    EXERCISES = json.loads((TESTS / "graded.json").read_text(encoding="utf-8"))

torch.set_num_threads(1)  # as in grading: the order of additions is the same everywhere
sys.path[:0] = [str(FOLDER), str(TESTS)]


class Submission:
    """Your files: `submission.Name` is what the file that belongs to `Name` defines."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.sources = {
            exercise["file"]: (FOLDER / exercise["file"]).read_text(encoding="utf-8")
            for exercise in EXERCISES
            if (FOLDER / exercise["file"]).is_file()
        }
        for exercise in EXERCISES:  # imported afresh for every test
            monkeypatch.delitem(sys.modules, Path(exercise["file"]).stem, raising=False)

    def __getattr__(self, name: str) -> Any:
        for exercise in EXERCISES:
            if name in exercise["names"]:
                return getattr(importlib.import_module(Path(exercise["file"]).stem), name)
        raise AttributeError(name)

    def without(self, *paths: str) -> Submission:
        """The same files, imported again while the use of `paths` raises."""
        for path in paths:
            self._block(path)
        return Submission(self._monkeypatch)

    def _block(self, path: str) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise RuntimeError(f"{path} is not to be used in this exercise")

        owner: Any = torch
        *folders, name = path.split(".")[1:]
        for folder in folders:
            owner = getattr(owner, folder, None)
        target = getattr(owner, name, None)
        if isinstance(target, type):
            self._monkeypatch.setattr(target, "__init__", refuse)
            self._monkeypatch.setattr(target, "forward", refuse, raising=False)
        elif target is not None:
            self._monkeypatch.setattr(owner, name, refuse)


@pytest.fixture
def submission(monkeypatch: pytest.MonkeyPatch) -> Submission:
    """Your classes and functions, freshly imported."""
    return Submission(monkeypatch)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "graded(points, title, hint): a test that gives points")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Words about the exercise in place of pytest's own account of a failure."""
    outcome: Any = yield
    report = outcome.get_result()
    graded = item.get_closest_marker("graded")
    if graded is not None and report.when == "call":
        report.user_properties.append(("points", float(graded.kwargs["points"])))
        if call.excinfo is not None:
            if isinstance(call.excinfo.value, NotImplementedError):
                report.user_properties.append(("unwritten", 1.0))
            report.longrepr = explain(graded.kwargs, call.excinfo.value)


def explain(graded: dict[str, str], error: BaseException) -> str:
    """A failure in a few lines: what was promised, what happened, a question to go on with."""
    lines = [f"not there yet: {graded['title']}"]
    if isinstance(error, AssertionError):
        lines.append(f"    {error}")
    elif isinstance(error, NotImplementedError):
        lines.append("    not yet written")
    else:
        lines.append(f"    {type(error).__name__}: {error}")
        for frame in traceback.extract_tb(error.__traceback__):
            if Path(frame.filename).parent == FOLDER:
                lines.append(f"    {Path(frame.filename).name}:{frame.lineno}  {frame.line}")
    return "\n".join([*lines, f"    ? {graded['hint']}"])


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The points of the public tests, and what the hidden ones will add."""
    find: Callable[[str], list[Any]] = terminalreporter.getreports
    for exercise in EXERCISES:
        name = f"test_{exercise['id']}.py"
        found = [
            r for r in find("passed") + find("failed") if r.when == "call" and name in r.nodeid
        ]
        if not found:  # not asked for in this run
            continue
        notes = [dict(report.user_properties) for report in found]
        passed = [n["points"] for r, n in zip(found, notes, strict=True) if r.passed]
        points = 0 if any("unwritten" in n for n in notes) else sum(passed)
        terminalreporter.write_line(
            f"{exercise['title']}: {points:g} of {exercise['public_points']} public points; "
            f"{exercise['hidden_tests']} hidden tests for {exercise['hidden_points']} more points"
        )
