"""The floor: the same tests on the same submissions in one warm process, with nothing around them.

No sandbox, no second judgement, no diagnosis, no report: what is left is the student's own
arithmetic, the tests', and pytest's. Nothing is safe here; it is a measure and not a grader.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from autograder.assignment import Assignment
from autograder.session import Session


class LocalSubmission:
    """A submission's names, imported here."""

    def __init__(self, folder: Path, homes: Mapping[str, str]) -> None:
        self._folder, self._homes = folder, homes
        self._patches: list[Any] = []
        self.sources = {path.name: path.read_text() for path in folder.glob("*.py")}
        self._forget()

    def _forget(self) -> None:
        for file in set(self._homes.values()):
            sys.modules.pop(file.removesuffix(".py"), None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._homes:
            raise AttributeError(name)
        return getattr(importlib.import_module(self._homes[name].removesuffix(".py")), name)

    def without(self, *paths: str) -> LocalSubmission:
        def refuse(*_: object, **__: object) -> None:
            raise RuntimeError("not to be used in this exercise")

        for path in paths:
            patch = mock.patch(
                path + ".__init__" if path[path.rfind(".") + 1].isupper() else path, refuse
            )
            patch.start()
            self._patches.append(patch)
        self._forget()
        return self

    def begin_test(self) -> None:
        pass

    def end_test(self) -> None:
        for patch in self._patches:
            patch.stop()
        if self._patches:
            self._forget()
        self._patches.clear()


class Floor:
    """Runs all graded tests of an assignment on one submission after another."""

    def __init__(self, assignment: Assignment) -> None:
        torch.set_num_threads(1)
        self.assignment = assignment
        self.homes = {name: e.file for e in assignment.exercises for name in e.names}
        self.session = Session(assignment)

    def run(self, files: Mapping[str, bytes]) -> int:
        """Returns how many tests passed."""
        passed = 0
        with tempfile.TemporaryDirectory() as folder:
            for name, data in files.items():
                (Path(folder) / name).write_bytes(data)
            sys.path.insert(0, folder)
            importlib.invalidate_caches()
            try:
                submission: Any = LocalSubmission(Path(folder), self.homes)
                for test in self.session.tests:
                    exercise = self.assignment.exercise(test.exercise)
                    passed += self.session.run(test, submission, exercise).verdict == "passed"
            finally:
                sys.path.remove(folder)
        return passed
