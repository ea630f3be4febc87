"""Judges submissions of one assignment with its graded tests, in one warm pytest session.

The tests are collected once; each submission then runs through the same items, as pytest-xdist's
workers do. A verdict comes from what the test raised here, in the grader, and
from nothing that the worker says about itself.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from autograder import drawing, pictures, reference, verdicts
from autograder.assignment import Assignment, Exercise
from autograder.charges import Charges, Faults
from autograder.diagnosis import diagnose
from autograder.errors import BrokenAssignment, KitError
from autograder.fault_table import Table
from autograder.faults import load_dictionaries
from autograder.pictures import Picture
from autograder.remote import Setup, Submission
from autograder.results import Diagnosis, Judgement, TestResult
from autograder.sandbox import Station
from autograder.session import GradedTest, Session, take_measurements
from autograder.student_errors import Stopped
from autograder.verdicts import Outcome
from autograder.workers import StandIns, Workers, speaks_of

MAX_TESTS = 4  # times the limit of one test that all tests of an exercise may take together
MAX_ENDS = 3  # deaths of a worker in one exercise before its other tests are skipped
ENDLESS = {"timed_out", "out_of_memory", "skipped"}


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
        self.dictionaries = load_dictionaries(assignment.solution_dir)
        self._tables: dict[str, Table] = {}
        self._charges: dict[str, Charges] = {}
        self._session = Session(assignment)
        self.tests = self._session.tests
        self._spared = sorted({path for test in self.tests for path in test.without})
        self._forbidding = {test.exercise for test in self.tests if test.without}
        self._drawers: dict[str, list[drawing.Draw]] = {}
        with contextlib.suppress(BrokenAssignment):  # `verify` says so; marks need no pictures
            self._drawers = drawing.load_pictures(assignment)

    def close(self) -> None:
        self._session.close()

    def judge(
        self, files: Mapping[str, str], exercises: Collection[str] = (), *, draws: bool = True
    ) -> Judgement:
        """Judges one submission: file name to source text, for the files that it has.

        `draws` adds pictures of what is wrong, which take a worker of their own.
        With `exercises`, only these are judged; of the others, which are perfect where these use
        them, every test is put down as passed, for `regrading` to replace.

        Raises:
            KitError: the sandbox has come to an end; what was judged is worth nothing.
        """
        kills = self.station.kills
        judgement = self._judge(files, exercises, draws)
        if self.station.kills > kills:  # from outside, if it does not happen again
            judgement = self._judge(files, exercises, draws)
        take_measurements()  # for calibration, which is not done here: they would pile up
        if self.station.is_broken:
            raise KitError("The sandbox came to an end.")
        return judgement

    def _judge(
        self, files: Mapping[str, str], exercises: Collection[str], draws: bool
    ) -> Judgement:
        trials: dict[str, Trial] = {}
        carried: list[str] = []
        diagnoses: list[Diagnosis] = []
        set_up = functools.partial(self._setup, files)
        names = {path.rpartition(".")[2] for path in self._spared}
        spared = [] if speaks_of(files.values(), names) else self._spared
        with Workers(self.station, set_up, spared) as workers:
            for exercise in self.assignment.exercises:
                trial = trials[exercise.id] = Trial(exercise)
                if exercises and exercise.id not in exercises:
                    kept = self._tests_of(exercise)
                    trial.outcomes = {test.id: Outcome("passed") for test in kept}
                    continue
                spoilt = [used for used in exercise.uses if not trials[used].is_perfect()]
                if self._try_all(trial, workers, trials, spoilt):
                    carried.append(exercise.id)
                diagnoses += self._diagnose(trial, workers, trials, spoilt)
        shown = self._draw(trials.values(), files) if draws else []
        return self._conclude(trials, carried, diagnoses, shown)

    # --- one exercise ---------------------------------------------------------------------------

    def _tests_of(self, exercise: Exercise) -> list[GradedTest]:
        return [test for test in self.tests if test.exercise == exercise.id]

    def _try_all(
        self, trial: Trial, workers: Workers, trials: Mapping[str, Trial], spoilt: Sequence[str]
    ) -> bool:
        """Judges an exercise; True if right values upstream helped it.

        Where exercises that it uses are spoilt, right values take their places first. What fails
        even so is tried with fewer of them (a block may rely on the way in which its author's layer
        is odd), and at last without a line of the spoilt files, since what they do on import may
        be the trouble. The better result of each test counts.
        """
        is_helped = False
        tests = self._tests_of(trial.exercise)
        for chosen, keep in _attempts(spoilt):
            stand_ins = dict(self._stand_in(used, trials[used], keep) for used in chosen)
            passed, is_asked = self._try(trial, workers, tests, stand_ins)
            is_helped |= passed and is_asked
            if self._is_unwritten(trial):
                every = self._tests_of(trial.exercise)
                trial.outcomes = {test.id: verdicts.unwritten() for test in every}
                return False
            tests = [test for test in tests if trial.outcomes[test.id].verdict != "passed"]
            if not tests:
                break
        return is_helped

    def _try(
        self,
        trial: Trial,
        workers: Workers,
        tests: Sequence[GradedTest],
        stand_ins: StandIns,
    ) -> tuple[bool, bool]:
        """Runs `tests`; whether some passed that had not, and whether stand-ins were asked.

        No failure is noted that a fresh worker has not.
        """
        while True:
            submission, is_new = workers.get(stand_ins)
            outcomes = self._run(trial, submission, tests, is_new)
            if all(self._counts(o, trial, submission, is_new) for o in outcomes.values()):
                break
            workers.start_over()
        better = {test: o for test, o in outcomes.items() if o.verdict == "passed"}
        trial.outcomes = outcomes | trial.outcomes | better
        return bool(better), submission.take_asked()

    def _run(
        self,
        trial: Trial,
        submission: Submission,
        tests: Sequence[GradedTest],
        is_new: bool,
    ) -> dict[str, Outcome]:
        """Runs `tests`, up to the first result that does not count."""
        exercise, outcomes = trial.exercise, {}
        error = submission.import_error(exercise.file)
        limit = MAX_TESTS * self.assignment.limits.test_wall_seconds
        is_spent, ends, spent = False, 0, 0.0
        submission.take_charge()  # of tests before
        for test in tests:
            if error is not None:
                outcome = verdicts.of_exception(error, self.assignment.id, exercise)
                outcome = replace(outcome, is_imported=False)
            elif is_spent:
                outcome = verdicts.skipped()
            else:
                outcome = self._session.run(test, submission, exercise)
                ends += outcome.verdict in ("crashed", "out_of_memory")
                spent += submission.take_charge()
                is_spent = outcome.verdict == "timed_out" or ends >= MAX_ENDS or spent > limit
            outcomes[test.id] = outcome
            if outcome.is_unwritten or not self._counts(outcome, trial, submission, is_new):
                break
        return outcomes

    def _counts(self, outcome: Outcome, trial: Trial, submission: Submission, is_new: bool) -> bool:
        """Whether a result counts; what does not is tried again where nothing else is to blame.

        Where a worker is spared names, trouble counts if no missing name can be what brings it
        about: a wrong value, or, in an exercise that forbids these names, work without an end.
        """
        if submission.is_misled:
            return False
        is_own = outcome.is_unwritten or outcome.verdict == "failed"
        is_own |= outcome.verdict in ENDLESS and trial.exercise.id in self._forbidding
        return outcome.verdict == "passed" or (is_new and (is_own or not submission.is_spared))

    def _setup(
        self, files: Mapping[str, str], stand_ins: StandIns, spared: Sequence[str] = ()
    ) -> Setup:
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
            spared=spared,
            stand_ins=stand_ins,
            supply=self.supply if stand_ins else None,
        )

    def _stand_in(self, used: str, trial: Trial, keep: bool = True) -> tuple[str, dict[str, Any]]:
        """The module to replace, and what `worker.substitution.stand_in` replaces it by."""
        exercise = self.assignment.exercise(used)
        return exercise.file.removesuffix(".py"), {
            "source": self.stubs[exercise.file],
            "written": list(exercise.student_writes),
            "keep": keep and all(o.is_imported for o in trial.outcomes.values()),
        }

    def _is_unwritten(self, trial: Trial) -> bool:
        return any(outcome.is_unwritten for outcome in trial.outcomes.values())

    def _draw(self, trials: Iterable[Trial], files: Mapping[str, str]) -> list[Picture]:
        """Takes pictures of what is wrong, in a worker of their own.

        A student sees them, and the workers of tests have seen hidden inputs.
        """
        wrong = [
            (trial.exercise.id, self._drawers[trial.exercise.id])
            for trial in trials
            if trial.exercise.id in self._drawers
            and any(outcome.verdict == "failed" for outcome in trial.outcomes.values())
        ]
        if not wrong:
            return []
        submission = Submission(self.station, self._setup(files, {}))
        try:
            return [p for exercise, how in wrong for p in drawing.draw(exercise, how, submission)]
        finally:
            submission.close()

    # --- the whole ------------------------------------------------------------------------------

    def _diagnose(
        self,
        trial: Trial,
        workers: Workers,
        trials: Mapping[str, Trial],
        spoilt: Sequence[str],
    ) -> list[Diagnosis]:
        """The known mistakes that explain what an exercise computes, if it computes wrongly."""
        exercise = trial.exercise.id
        dictionary = self.dictionaries.get(exercise)
        if dictionary is None or not any(o.verdict == "failed" for o in trial.outcomes.values()):
            return []
        if exercise not in self._tables:
            self._tables[exercise] = Table.of(dictionary)
        stand_ins = dict(self._stand_in(used, trials[used]) for used in spoilt)
        while True:
            submission, _ = workers.get(stand_ins)
            submission.begin_test()
            try:
                found = diagnose(dictionary, submission, self._tables[exercise])
            except Stopped:
                found = None
            finally:
                submission.end_test()
            if not submission.is_misled:
                break
            workers.start_over()
        if found is None or not found.faults:
            return []
        self._excuse(trial, found.alternatives)
        text = " ".join([found.text, *found.hints[:2]])
        return [Diagnosis(exercise=exercise, faults=found.faults, text=text)]

    def _excuse(self, trial: Trial, alternatives: Sequence[Faults]) -> None:
        """Takes back what would charge the diagnosed mistakes a second time."""
        exercise = trial.exercise.id
        if exercise not in self._charges:
            self._charges[exercise] = Charges(self.dictionaries[exercise], self.tests)
        failed = [test for test, outcome in trial.outcomes.items() if outcome.verdict == "failed"]
        for test in self._charges[exercise].excused(alternatives, failed):
            trial.outcomes[test] = verdicts.excused(trial.outcomes[test])

    def _conclude(
        self,
        trials: Mapping[str, Trial],
        carried: list[str],
        diagnoses: list[Diagnosis],
        shown: list[Picture],
    ) -> Judgement:
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
            diagnosis=diagnoses,
            carried_forward=carried,
            flags=sorted(set(flags)),
            isolation=self.station.level,
            pictures=pictures.encode(shown),
        )


def _attempts(spoilt: Sequence[str]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Which exercises to stand in for, and whether to keep the rest of their files."""
    yield tuple(spoilt), True
    for size in range(len(spoilt)):
        for chosen in itertools.combinations(spoilt, size):
            yield chosen, True
    if spoilt:
        yield tuple(spoilt), False
