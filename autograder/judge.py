"""Judges submissions of one assignment with its graded tests, in one warm pytest session.

The tests are collected once; each submission then runs through the same items, as pytest-xdist's
workers do. Every exercise gets a worker of its own, so that what one file does to its process
cannot cost points elsewhere. A verdict comes from what the test raised here, in the grader, and
from nothing that the worker says about itself.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from autograder import reference, verdicts
from autograder.assignment import Assignment, Exercise
from autograder.errors import KitError
from autograder.remote import Setup, Submission
from autograder.results import Judgement, TestResult, exact, sum_points
from autograder.sandbox import Station
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


@dataclass
class Trial:
    """One exercise of one submission in the middle of being judged."""

    exercise: Exercise
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def is_perfect(self) -> bool:
        return all(outcome.verdict == "passed" for outcome in self.outcomes.values())


class Judge:
    """Use one at a time in a process; `judge` as often as wanted; `close` at the end."""

    def __init__(self, assignment: Assignment, station: Station) -> None:
        self.assignment = assignment
        self.station = station
        self.stubs = reference.cut_stubs(assignment)
        self.supply = reference.Supply(assignment)
        self._session = _Session(assignment)
        self.tests = self._session.tests

    def close(self) -> None:
        self._session.close()

    def judge(self, files: Mapping[str, str]) -> Judgement:
        """Judges one submission: file name to source text, for the files that it has."""
        trials: dict[str, Trial] = {}
        carried: list[str] = []
        for exercise in self.assignment.exercises:
            trial = trials[exercise.id] = Trial(exercise)
            self._try(trial, files, self._tests_of(exercise), {})
            spoilt = [used for used in exercise.uses if not trials[used].is_perfect()]
            if spoilt and not trial.is_perfect() and not self._is_unwritten(trial):
                stand_ins = dict(self._stand_in(used, trials[used]) for used in spoilt)
                if self._try_again(trial, files, stand_ins):
                    carried.append(exercise.id)
        return self._conclude(trials, carried)

    # --- one exercise ---------------------------------------------------------------------------

    def _tests_of(self, exercise: Exercise) -> list[GradedTest]:
        return [test for test in self.tests if test.exercise == exercise.id]

    def _try(
        self,
        trial: Trial,
        files: Mapping[str, str],
        tests: Sequence[GradedTest],
        stand_ins: Mapping[str, dict[str, Any]],
    ) -> None:
        """Runs `tests` in a worker of their own and notes the outcomes."""
        exercise = trial.exercise
        submission = Submission(self.station, self._setup(files, stand_ins))
        try:
            error = submission.import_error(exercise.file)
            is_slow = False
            for test in tests:
                if error is not None:
                    outcome = verdicts.of_exception(error, self.assignment.id, exercise.id)
                    outcome = replace(outcome, is_imported=False)
                elif is_slow:
                    outcome = verdicts.skipped_as_slow()
                else:
                    outcome = self._session.run(test, submission, exercise.id)
                    if outcome.verdict == "timed_out":  # the machine may have hiccuped: once more
                        outcome = self._session.run(test, submission, exercise.id)
                    is_slow = outcome.verdict == "timed_out"
                trial.outcomes[test.id] = outcome
        finally:
            submission.close()
        if any(outcome.is_unwritten for outcome in trial.outcomes.values()):
            trial.outcomes = dict.fromkeys(trial.outcomes, verdicts.unwritten(trial.exercise.id))

    def _try_again(
        self, trial: Trial, files: Mapping[str, str], stand_ins: Mapping[str, dict[str, Any]]
    ) -> bool:
        """Judges what failed once more with right values upstream; True if that was better."""
        first = dict(trial.outcomes)
        tests = [t for t in self._tests_of(trial.exercise) if first[t.id].verdict != "passed"]
        self._try(trial, files, tests, stand_ins)
        is_better = False
        for test in tests:
            is_better |= trial.outcomes[test.id].verdict == "passed"
        return is_better

    def _setup(self, files: Mapping[str, str], stand_ins: Mapping[str, dict[str, Any]]) -> Setup:
        limits = self.assignment.limits
        return Setup(
            files=files,
            homes={name: e.file for e in self.assignment.exercises for name in e.names},
            limits={
                "cpu_seconds": int(limits.cpu_seconds),
                "memory_bytes": limits.memory_mib << 20,
                "processes": limits.processes,
                "file_bytes": limits.file_mib << 20,
            },
            import_seconds=limits.import_wall_seconds,
            test_seconds=limits.test_wall_seconds,
            stand_ins=stand_ins,
            supply=self.supply if stand_ins else None,
        )

    def _stand_in(self, used: str, trial: Trial) -> tuple[str, dict[str, Any]]:
        """The module to replace, and what `worker.substitution.stand_in` replaces it by."""
        exercise = self.assignment.exercise(used)
        return exercise.file.removesuffix(".py"), {
            "source": self.stubs[exercise.file],
            "written": list(exercise.student_writes),
            "keep": all(o.is_imported for o in trial.outcomes.values()),
        }

    def _is_unwritten(self, trial: Trial) -> bool:
        return any(outcome.is_unwritten for outcome in trial.outcomes.values())

    # --- the whole ------------------------------------------------------------------------------

    def _conclude(self, trials: Mapping[str, Trial], carried: list[str]) -> Judgement:
        results, flags = [], []
        for test in self.tests:
            outcome = trials[test.exercise].outcomes[test.id]
            passed = outcome.verdict == "passed"
            if test.flag and outcome.verdict == "failed":
                flags.append(test.flag)
            results.append(
                TestResult(
                    id=test.id,
                    exercise=test.exercise,
                    title=test.title,
                    visibility="hidden" if test.is_hidden else "public",
                    verdict=outcome.verdict,
                    points=test.points if passed else Decimal(0),
                    max_points=test.points,
                    message=outcome.message_for_student(test.is_hidden, test.hint),
                    staff_message=outcome.detail,
                )
            )
        return Judgement(
            tests=results,
            diagnosis=[],
            carried_forward=carried,
            flags=sorted(set(flags)),
            isolation=self.station.level,
        )


class _Session:
    """A pytest session in a thread of its own, fed through queues; itself a pytest plugin."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.tests: list[GradedTest] = []
        self._jobs: queue.Queue[tuple[GradedTest, Submission, str] | None] = queue.Queue()
        self._answers: queue.Queue[Outcome | None] = queue.Queue()
        self._submission: Submission | None = None
        self._exercise = ""
        self._outcome = Outcome("grader_error", detail="the test did not run")
        self._problem = ""
        self._thread = threading.Thread(target=self._main, daemon=True)
        self._thread.start()
        self._answers.get()
        if self._problem:
            raise KitError(self._problem)

    def run(self, test: GradedTest, submission: Submission, exercise: str) -> Outcome:
        self._jobs.put((test, submission, exercise))
        answer = self._answers.get()
        if answer is None:
            raise KitError(f"pytest ended while running {test.id}.")
        return answer

    def close(self) -> None:
        self._jobs.put(None)
        self._thread.join(10)

    def _main(self) -> None:
        paths = [self.assignment.public_tests, self.assignment.hidden_tests]
        _make_importable([self.assignment.root / "assignments" / "checking", *paths])
        options = [
            "-s",
            "--assert=plain",
            "--noconftest",
            "--import-mode=importlib",
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
        ):
            options += ["-p", f"no:{plugin}"]
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
            submission.end_test()
            self._answers.put(self._outcome)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> pytest.TestReport:
        error = call.excinfo.value if call.excinfo is not None else None
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
        exercise = Path(item.fspath).stem.removeprefix("test_")
        where = f"{exercise}::{item.name}"
        if mark is None:
            raise KitError(f"{where} has no @pytest.mark.{MARK}(points=…, title=…).")
        unknown = set(mark.kwargs) - {"points", "title", "hint", "flag"}
        if mark.args or unknown or not mark.kwargs.get("title") or "[" in item.name:
            raise KitError(
                f"{where}: a graded test has points=, title=, hint= and perhaps flag=, "
                "and no parameters."
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
                is_hidden=assignment.hidden_tests in Path(item.fspath).parents,
                points=exact(mark.kwargs.get("points", "")),
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
