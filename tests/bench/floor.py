"""The floor: the same tests on the same submissions in one warm process, with nothing around them.

No sandbox, no second judgement, no diagnosis, no report: what is left is the student's own
arithmetic, the tests', and pytest's. Nothing is safe here; it is a measure and not a grader.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import Any

import torch

from autograder.assignment import Assignment
from autograder.local import import_locally
from autograder.session import Session


class Floor:
    """Runs all graded tests of an assignment on one submission after another."""

    def __init__(self, assignment: Assignment) -> None:
        torch.set_num_threads(1)
        self.assignment = assignment
        self.session = Session(assignment)

    def run(self, files: Mapping[str, bytes]) -> int:
        """Returns how many tests passed."""
        passed = 0
        with (
            open(os.devnull, "w") as nowhere,
            contextlib.redirect_stdout(nowhere),
            contextlib.redirect_stderr(nowhere),
            import_locally(self.assignment, files) as submission,
        ):
            program: Any = submission
            for test in self.session.tests:
                exercise = self.assignment.exercise(test.exercise)
                passed += self.session.run(test, program, exercise).verdict == "passed"
        return passed
