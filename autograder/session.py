"""A warm pytest session: the graded tests are collected once and run for every submission.

This is how pytest-xdist's workers run tests; the session is its own plugin. Verdicts are made from
what a test raised, before pytest turns it into text.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from autograder import verdicts
from autograder.assignment import Assignment, Exercise
from autograder.errors import KitError
from autograder.remote import Submission
from autograder.results import exact, sum_points
from autograder.verdicts import Outcome

MARK = "graded"


@dataclass(frozen=True)
class GradedTest:
    """A collected test and what its `graded` mark says."""

    item: pytest.Item
    id: str
    exercise: str
    title: str
    hint: str
    flag: str
    is_hidden: bool
    points: Decimal
    without: tuple[str, ...] = ()  # what it lets its submission do without


class Session:
    """A pytest session in a thread of its own, fed through queues; itself a pytest plugin."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        checking = assignment.root / "assignments" / "checking"
        self._folders = [checking, assignment.public_tests, assignment.hidden_tests]
        self.tests: list[GradedTest] = []
        self._jobs: queue.SimpleQueue[tuple[GradedTest, Submission, Exercise] | None]
        self._answers: queue.SimpleQueue[Outcome | None]
        self._jobs, self._answers = queue.SimpleQueue(), queue.SimpleQueue()
        self._submission: Submission | None = None
        self._exercise: Exercise | None = None
        self._outcome = Outcome("grader_error", detail="the test did not run")
        self._problem = ""
        self._thread = threading.Thread(target=self._main, daemon=True)
        self._thread.start()
        self._answers.get()
        if self._problem:
            raise KitError(self._problem)

    def run(self, test: GradedTest, submission: Submission, exercise: Exercise) -> Outcome:
        self._jobs.put((test, submission, exercise))
        answer = self._answers.get()
        if answer is None:
            raise KitError(f"pytest ended while running {test.id}.")
        return answer

    def close(self) -> None:
        self._jobs.put(None)
        self._thread.join(10)
        for folder in map(str, self._folders):
            if folder in sys.path:
                sys.path.remove(folder)

    def _main(self) -> None:
        paths = [self.assignment.public_tests, self.assignment.hidden_tests]
        _make_importable(self._folders)
        options = [
            "-s",
            "--assert=plain",
            "--noconftest",
            "--import-mode=importlib",
            "--disable-plugin-autoload",  # verdicts hang on nothing that happens to be installed
            "-c",
            "/dev/null",
        ]
        options += [f"--rootdir={self.assignment.root}", "-o", f"markers={MARK}: a graded test"]
        for plugin in (
            "cacheprovider",
            "terminal",
            "faulthandler",
            "junitxml",
            "doctest",
            "threadexception",
            "unraisableexception",
            "logging",
            "debugging",
            "pastebin",
            "setuponly",
            "setupplan",
            "legacypath",
            "unittest",
        ):
            options += ["-p", f"no:{plugin}"]
        for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):  # meant for other tests than these
            os.environ.pop(name, None)
        try:
            status = pytest.main([*options, *map(str, paths)], plugins=[self])
            if not self.tests and not self._problem:
                self._problem = (
                    f"The graded tests of {self.assignment.id} cannot be collected ({status!s})."
                )
        except BaseException as error:
            self._problem = f"The graded tests of {self.assignment.id} cannot run: {error!r}"
        finally:
            self._answers.put(None)

    # --- pytest hooks ---------------------------------------------------------------------------

    @pytest.fixture
    def submission(self) -> Submission:
        assert self._submission is not None
        return self._submission

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self._problem:
            reason = str(report.longrepr).strip().splitlines()
            self._problem = f"{report.nodeid} cannot be collected: {reason[-1] if reason else '?'}"

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        try:
            if not self._problem:
                self.tests = _read_marks(session.items, self.assignment)
        except KitError as error:
            self._problem = str(error)
        self._answers.put(None)
        if self._problem:
            return True
        while (job := self._jobs.get()) is not None:
            test, submission, self._exercise = job
            self._submission = submission
            self._outcome = Outcome("grader_error", detail="the test did not run")
            submission.begin_test()
            hook = test.item.config.hook
            hook.pytest_runtest_protocol(item=test.item, nextitem=None)
            try:
                submission.end_test()
            except Exception as error:  # one test's trouble is not to end the others
                self._outcome = Outcome("grader_error", detail=repr(error))
            self._answers.put(self._outcome)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> pytest.TestReport:
        error = call.excinfo.value if call.excinfo is not None else None
        assert self._exercise is not None
        if call.when == "call" or error is not None:
            self._outcome = verdicts.of_exception(error, self.assignment.id, self._exercise)
        return pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="passed" if error is None else "failed",
            longrepr=None,
            when="call" if call.when == "collect" else call.when,
        )


def take_measurements() -> list[Any]:
    """What the tests judged by numbers since the last call: see assignments/checking."""
    measured: list[Any] = getattr(sys.modules.get("comparison"), "measured", [])
    taken = list(measured)
    measured.clear()
    return taken


def _make_importable(folders: Sequence[Path]) -> None:
    """Lets tests import what stands beside them; forgets modules of those names from elsewhere."""
    sys.dont_write_bytecode = True
    here = {path.stem for folder in folders for path in folder.glob("*.py")}
    for name in list(sys.modules):
        if name.rpartition(".")[2] in here and (name in here or ".tests." in name):
            del sys.modules[name]
    for folder in map(str, folders):
        if folder in sys.path:
            sys.path.remove(folder)
        sys.path.insert(0, folder)


def _read_marks(items: Sequence[pytest.Item], assignment: Assignment) -> list[GradedTest]:
    """The graded tests in order of exercise, public before hidden, as they stand in their files."""
    tests = []
    for item in items:
        mark = item.get_closest_marker(MARK)
        exercise = item.path.stem.removeprefix("test_")
        where = f"{exercise}::{item.name}"
        if mark is None:
            raise KitError(f"{where} has no @pytest.mark.{MARK}(points=…, title=…).")
        unknown = set(mark.kwargs) - {"points", "title", "hint", "flag", "without"}
        if mark.args or unknown or not mark.kwargs.get("title") or "[" in item.name:
            raise KitError(
                f"{where}: a graded test has points=, title=, hint= and perhaps flag= or "
                "without=, and no parameters."
            )
        assignment.exercise(exercise)
        tests.append(
            GradedTest(
                item=item,
                id=where,
                exercise=exercise,
                title=str(mark.kwargs["title"]),
                hint=str(mark.kwargs.get("hint", "")),
                flag=str(mark.kwargs.get("flag", "")),
                is_hidden=assignment.hidden_tests in item.path.parents,
                points=exact(mark.kwargs.get("points", "")),
                without=tuple(map(str, mark.kwargs.get("without", ()))),
            )
        )
    order = {exercise.id: place for place, exercise in enumerate(assignment.exercises)}
    tests.sort(key=lambda test: (order[test.exercise], test.is_hidden))
    _check_points(tests, assignment)
    return tests


def _check_points(tests: Sequence[GradedTest], assignment: Assignment) -> None:
    seen: set[str] = set()
    for test in tests:
        if test.id in seen:
            raise KitError(f"{test.id} exists twice; give one of the two another name.")
        seen.add(test.id)
    for exercise in assignment.exercises:
        mine = [test for test in tests if test.exercise == exercise.id]
        public = sum_points(test.points for test in mine if not test.is_hidden)
        total = sum_points(test.points for test in mine)
        if (public, total) != (exercise.public_points, exercise.points):
            raise KitError(
                f"The tests of {exercise.id} are worth {total} points, {public} of them public; "
                f"assignment.toml says {exercise.points} and {exercise.public_points}."
            )
