"""Lets the public tests run in plain pytest, beside your own files: `python -m pytest`.

The tests ask for `submission`: an object whose attributes are the classes and functions
that you wrote. When your work is graded the same tests run against a copy of your files.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from explanation import Told, tell
from student_files import (
    ASSIGNMENT,
    EXERCISES,
    Submission,
    forget_files,
    importing,
    only_handed_in,
    settings_kept,
)
from time_limit import TimeLimit, TooSlow

_judged: list[str] = []  # the exercise that is being judged
_too_slow: set[str] = set()  # exercises of which a test has run into its time limit


@pytest.fixture
def submission(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> Iterator[Submission]:
    """Your classes and functions, freshly imported for each exercise."""
    exercise = exercise_of(request.node)
    if _judged != [exercise]:
        _judged[:] = [exercise]
        forget_files()
    with only_handed_in(), settings_kept():
        yield Submission(monkeypatch, getattr(pytestconfig, "namespace", None))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "graded(points, title, hint): a test that gives points")
    _too_slow.clear()
    _judged.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """The time that grading gives a file to be imported, and a test; none after a first one."""
    to_import, to_run = ASSIGNMENT["import_seconds"], ASSIGNMENT["test_seconds"]
    exercise = exercise_of(item)
    if exercise in _too_slow:
        raise TooSlow("not run, since a test before it took too long")
    importing.clear()
    begun = time.monotonic()
    try:
        with TimeLimit(to_import + to_run, f"this takes longer than {to_import + to_run:g} s"):
            result = yield
        spent = sum(importing)
        if max(importing, default=0) > to_import:
            raise TooSlow(f"to import your file took {spent:.1f} s; it has {to_import:g} s")
        if time.monotonic() - begun - spent > to_run:
            raise TooSlow(f"this took longer than the {to_run:g} s that a test has")
        return result
    except TooSlow:
        _too_slow.add(exercise)
        raise


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Words about the exercise in place of pytest's own account of a failure."""
    outcome: Any = yield
    report = outcome.get_result()
    graded = item.get_closest_marker("graded")
    if graded is None or report.when != "call":
        return
    error = call.excinfo.value if call.excinfo is not None else None
    told = tell(exercise_of(item), item.name, graded.kwargs, error)
    report.user_properties.append(("told", told))
    if error is not None:
        lines = [f"not there yet: {told['title']}", *(f"    {line}" for line in told["lines"])]
        report.longrepr = "\n".join(lines + [f"    ? {told['question']}"] * bool(told["question"]))


def exercise_of(item: pytest.Item) -> str:
    """The exercise that a test is about: tests/test_<exercise>.py."""
    return Path(item.path).stem.removeprefix("test_")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The points of the public tests, and what the hidden ones will add."""
    find: Callable[[str], list[Any]] = terminalreporter.getreports
    notes = [dict(r.user_properties) for r in find("passed") + find("failed") if r.when == "call"]
    told: list[Told] = [note["told"] for note in notes if "told" in note]
    for exercise in EXERCISES:
        found = [one for one in told if one["exercise"] == exercise["id"]]
        if found:  # else not asked for in this run
            terminalreporter.write_line(
                f"{exercise['title']}: {public_points(found):g} of {exercise['public_points']} "
                f"public points; {exercise['hidden_tests']} hidden tests for "
                f"{exercise['hidden_points']} more points"
            )


def public_points(told: list[Told]) -> float:
    """The points of one exercise's tests; an exercise that is not yet written has none."""
    if any(one["verdict"] == "unwritten" for one in told):
        return 0.0
    return sum(one["points"] for one in told if one["verdict"] == "passed")
