"""Runs the public tests in this process and gathers what they say."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from checker.folder import FOLDER, FRESH, TESTS, Problem

MAX_KEPT = 4000  # characters
MAX_PRINTED = 6  # lines of what your code prints during one test
LEFT_OUT = (
    "terminal faulthandler junitxml doctest logging warnings unraisableexception threadexception"
).split()  # parts of pytest that print, or that take a quarter of a second


def judge(
    exercises: Sequence[dict[str, Any]], namespace: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Run the public tests of `exercises`: one account (`explanation.Told`) for each test.

    Raises:
        Problem: a file of this folder that is not yours to change is gone or changed.
    """
    if namespace is None:  # in a notebook pictures are to be seen
        os.environ.setdefault("MPLBACKEND", "Agg")
    recorder = Recorder(namespace)
    options = [f"--rootdir={FOLDER}", "-s", "--assert=plain"]
    for plugin in LEFT_OUT:
        options += ["-p", f"no:{plugin}"]
    with contextlib.redirect_stderr(Printed()) as errors:
        run_pytest(options, exercises, [recorder])
    if not recorder.told and not recorder.stopped and not recorder.problem:
        recorder.problem = (errors.text.strip() or "no test was found").splitlines()[-1]
    if recorder.problem:
        raise Problem(f"The tests cannot run: {recorder.problem}\n{FRESH}")
    if recorder.stopped:
        raise Problem(f"Stopped. {recorder.stopped}")
    return recorder.told


def run_pytest(
    options: Sequence[str], exercises: Sequence[dict[str, Any]], plugins: Sequence[object] = ()
) -> int:
    """Run the tests of `exercises` in plain pytest, without what else is installed or set."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ.pop("PYTEST_PLUGINS", None)
    paths = [str(TESTS / f"test_{exercise['id']}.py") for exercise in exercises]
    before = os.getcwd()
    os.chdir(FOLDER)
    try:
        return int(pytest.main(["-c", str(FOLDER / "pytest.ini"), *options, *paths], list(plugins)))
    finally:
        os.chdir(before)


class Recorder:
    """A pytest plugin: keeps back what your code prints, and notes the verdicts."""

    def __init__(self, namespace: dict[str, Any] | None = None) -> None:
        self.namespace = namespace
        self.told: list[dict[str, Any]] = []
        self.problem = ""
        self.stopped = ""
        self._printed = Printed()

    def pytest_configure(self, config: Any) -> None:
        config.namespace = self.namespace

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        from explanation import place_of

        place = place_of(excinfo.value)
        self.stopped = f"It was at {place[0]}" if place else "No test was at work in your files."

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.problem = str(report.longrepr).strip().splitlines()[-1]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        self._printed = Printed()
        with quiet(self._printed):
            return (yield)

    def pytest_runtest_logreport(self, report: Any) -> None:
        notes = dict(report.user_properties)
        if "told" in notes and report.when == "call":
            told = notes["told"]
            if told["verdict"] != "passed":
                told["printed"] = self._printed.lines()
            self.told.append(told)
        elif report.failed and report.when != "call":
            self.problem = str(report.longrepr).strip().splitlines()[-1]


class Printed(io.TextIOBase):
    """The beginning of what is printed; the rest is counted and forgotten. Cannot be closed."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self._more = 0

    def write(self, text: str) -> int:
        kept = max(0, MAX_KEPT - len(self.text))
        self.text += text[:kept]
        self._more += text[kept:].count("\n")
        return len(text)

    def close(self) -> None:
        pass

    def lines(self) -> list[str]:
        lines = self.text.splitlines()
        more = self._more + max(0, len(lines) - MAX_PRINTED)
        shown = [line[:200] for line in lines[:MAX_PRINTED]]
        return [*shown, f"... and {more} more lines"] if more else shown


@contextlib.contextmanager
def quiet(printed: Printed) -> Iterator[None]:
    """Send output to `printed`, and let nobody wait for input."""
    with open(os.devnull, encoding="utf-8") as nothing:
        streams = sys.stdin, sys.stdout, sys.stderr
        sys.stdin, sys.stdout, sys.stderr = nothing, printed, printed
        try:
            yield
        finally:
            sys.stdin, sys.stdout, sys.stderr = streams
