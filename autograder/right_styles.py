"""How far right answers lie from the bounds of the tests, on one machine setting.

The reference and the gallery's right cases are code of ours: the tests run on them in this
process, without a sandbox, which is the only way to choose how PyTorch computes. One process
measures one setting, as `python -m autograder.right_styles ROOT ASSIGNMENT SETTING FILE`; `start`
begins such processes and `collect` waits for what they find.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import torch

from autograder.assignment import Assignment, load
from autograder.errors import KitError
from autograder.gallery import find_gallery
from autograder.local import import_locally
from autograder.sandbox import finish_python, start_python
from autograder.session import Session, take_measurements

if TYPE_CHECKING:
    from subprocess import Popen

SETTINGS = {"1 thread": 1, "2 threads": 2, "without oneDNN": 1}
FEW = 3  # settings after the first look at every third case: the others compute the same way
WAIT_SECONDS = 300.0
FAR = 1e30  # in place of infinity, which JSON does not have


class Distance(msgspec.Struct):
    """How far the farthest right answer lies from right at one bound of one test."""

    test: str
    bound: str
    error: float = 0.0  # over the tolerance: 1 would fail
    by: str = ""  # the case and the setting
    anchor: float = 0.0  # the same with rounding, and what other mistakes may do, as the least
    spared: float = 0.0  # what the test says that other mistakes may do
    tolerance: float = 0.0


class Found(msgspec.Struct):
    """What one process found."""

    distances: list[Distance] = []
    problems: list[str] = []


@dataclass
class Run:
    """A process at work, and the file that it will write."""

    process: Popen[bytes]
    setting: str
    path: Path


def start(assignment: Assignment, folder: Path) -> list[Run]:
    """Begins to measure every setting; results go to `folder`."""
    runs = []
    for number, (setting, threads) in enumerate(SETTINGS.items()):
        path = folder / f"{number}.json"
        words = ["-m", __name__, str(assignment.root), assignment.id, setting, str(path)]
        runs.append(Run(start_python(words, threads), setting, path))
    return runs


def collect(runs: list[Run]) -> Found:
    """Waits for all processes; the farthest of all settings, for each bound.

    Raises:
        KitError: one of them did not finish.
    """
    farthest: dict[tuple[str, str], Distance] = {}
    problems = []
    try:
        for run in runs:
            code, said = finish_python(run.process, WAIT_SECONDS)
            if code != 0:
                raise KitError(f"measuring with {run.setting} did not finish: {said}")
            found = msgspec.json.decode(run.path.read_bytes(), type=Found)
            problems += found.problems
            for distance in found.distances:
                _keep_farthest(farthest, distance)
    finally:
        for run in runs:
            run.process.kill()
            run.process.wait()
    return Found(list(farthest.values()), problems)


def measure(assignment: Assignment, setting: str, only: Collection[str] = ()) -> Found:
    """Runs the tests on right answers in this process, or on those in `only`."""
    torch.set_num_threads(SETTINGS[setting])
    cases = {
        submission.student: submission.files
        for submission in find_gallery(assignment).submissions
        if submission.student == "reference" or submission.student.startswith("right-")
    }
    reference = cases["reference"]
    chosen = list(cases)[:: 1 if setting == next(iter(SETTINGS)) else FEW]
    farthest: dict[tuple[str, str], Distance] = {}
    problems: list[str] = []
    session = Session(assignment)
    try:
        for student in only or dict.fromkeys(["reference", *chosen]):
            files = cases[student]
            own = {
                exercise.id
                for exercise in assignment.exercises
                if student == "reference" or files.get(exercise.file) != reference[exercise.file]
            }
            tests = [test for test in session.tests if test.exercise in own]
            with import_locally(assignment, files) as program:
                for test in tests:
                    take_measurements()
                    program.forget()
                    try:
                        test.item.obj(program)  # type: ignore[attr-defined]
                    except Exception as error:
                        said = " ".join(str(error).split())[:160]
                        problems.append(f"{test.id} fails for {student} with {setting}: {said}")
                    finally:
                        program.end_test()
                    for one in take_measurements():
                        _keep_farthest(farthest, _distance(test.id, one, f"{student}, {setting}"))
    finally:
        session.close()
    return Found(list(farthest.values()), problems)


def _distance(test: str, one: Any, by: str) -> Distance:
    """One of the tests' measurements as a distance."""
    least = max(one.error, one.rounding, one.spared)
    return Distance(
        test=test,
        bound=one.bound,
        error=min(one.error / one.tolerance, FAR),
        by=by,
        anchor=min(least / one.tolerance, FAR),
        spared=one.spared,
        tolerance=one.tolerance,
    )


def _keep_farthest(farthest: dict[tuple[str, str], Distance], new: Distance) -> None:
    old = farthest.setdefault((new.test, new.bound), new)
    if new.error > old.error:
        old.error, old.by = new.error, new.by
    old.anchor = max(old.anchor, new.anchor)
    old.spared = max(old.spared, new.spared)


def main(root: str, assignment_id: str, setting: str, path: str) -> None:
    """Measures one setting and writes what it found."""
    is_plain = setting == "without oneDNN"
    with torch.backends.mkldnn.flags(enabled=not is_plain):
        found = measure(load(assignment_id, root=Path(root)), setting)
    Path(path).write_bytes(msgspec.json.encode(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
