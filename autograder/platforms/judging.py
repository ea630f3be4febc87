"""Judges what a platform hands over, in the sandbox."""

from __future__ import annotations

import atexit
import functools
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.assignment import Assignment
from autograder.digest import Digester
from autograder.errors import KitError
from autograder.grading import LEVELS
from autograder.intake import Submission
from autograder.intake.matching import pick_files
from autograder.intake.tree import File, Folder, Refused
from autograder.results import Result, TestResult
from autograder.totals import make_result

if TYPE_CHECKING:
    from autograder.pool import Pool


def judge_notebook(
    assignment: Assignment, student: str, notebook: bytes, *, least: str = ""
) -> Result:
    """Judge a notebook as `autograder grade` judges it.

    Args:
        assignment: what was asked.
        student: an id, for the result.
        notebook: the file's content.
        least: the weakest isolation to accept; empty for any.

    Raises:
        KitError: it could not be judged, and so there are no marks: nothing in it can be graded,
            the isolation is too weak, or the grader is at fault.
    """

    def read(limit: int) -> bytes:
        if len(notebook) > limit:
            raise Refused(f"is larger than {limit >> 20} MiB")
        return notebook

    file = File(f"{assignment.id}.ipynb", len(notebook), read)
    result = judge_folder(assignment, student, Folder(student, files=[file]), least=least)
    if result.status != "graded":
        raise KitError(f"{student} has no marks ({result.status}): {result.reason}")
    return result


def judge_folder(
    assignment: Assignment, student: str, folder: Folder, *, least: str = ""
) -> Result:
    """Judge a folder of files; whatever is in it, there is a result that says what became of it.

    Raises:
        KitError: the isolation is too weak.
    """
    picked = pick_files(folder, assignment)
    submission = Submission(
        student=student,
        original=student,
        origin=student,
        files=picked.files,
        notes=picked.notes,
        ungradable=picked.ungradable,
    )
    digest = Digester(assignment).digest(submission)
    if submission.ungradable:
        return make_result(assignment, submission, digest)
    pool = open_pool(assignment.id)
    if least and LEVELS.index(pool.isolation) < LEVELS.index(least):
        raise KitError(
            f"isolation {least!r} is required, but only {pool.isolation!r} can be had here."
        )
    try:
        judgement = pool.submit(submission.files).result()
    except Exception as error:
        reason = f"the judge failed: {type(error).__name__}: {error}"
        return make_result(assignment, submission, digest, reason)
    return make_result(assignment, submission, digest, judgement)


@functools.cache
def open_pool(assignment_id: str) -> Pool:
    """One judge, started when first needed and kept until the process ends."""
    from autograder import pool

    started = pool.start(assignment_id, 1)
    atexit.register(started.close)
    return started


def say(test: TestResult, result: Result) -> list[str]:
    """What the student reads of a test, line by line, diagnosis included where it is the first."""
    points = "point" if test.max_points == 1 else "points"
    mark = "✓" if test.points == test.max_points else "✗"
    lines = [f"{mark} {test.title}: {test.points} of {test.max_points} {points}"]
    lines += test.message.splitlines()
    first = next((t for t in result.tests if t.exercise == test.exercise and not t.points), None)
    if first is test:
        lines += [found.text for found in result.diagnosis if found.exercise == test.exercise]
    if test.exercise in result.carried_forward:
        lines.append("Judged with right values in place of the exercises that this one uses.")
    return lines


def read_declared(assignment_id: str, root: Path | None = None) -> Assignment:
    """The assignment that a platform's own name stands for.

    Raises:
        KitError: there is none, with what to do.
    """
    from autograder.assignment import load

    try:
        return load(assignment_id, root)
    except KitError as error:
        raise KitError(f"{error} The platform's assignment must have the kit's name.") from error
