"""A submission in this very process, for code that is ours: calibration and measurements.

It offers tests what `remote.Submission` offers them, without a boundary. Never for students' code.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from autograder.assignment import Assignment


@contextlib.contextmanager
def import_locally(assignment: Assignment, files: Mapping[str, bytes]) -> Iterator[LocalSubmission]:
    """A program made of these files, gone without a trace after."""
    path = list(sys.path)
    with tempfile.TemporaryDirectory() as folder, torch.random.fork_rng():
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        sys.path.insert(0, folder)
        importlib.invalidate_caches()
        submission = LocalSubmission(assignment, Path(folder))
        try:
            yield submission
        finally:
            submission.end_test()
            submission.forget()
            sys.path[:] = path
            for name in list(sys.modules):
                origin = getattr(sys.modules[name], "__file__", None) or ""
                if origin.startswith(folder):
                    del sys.modules[name]


class LocalSubmission:
    """`submission.Name` is what the file that belongs to `Name` defines."""

    def __init__(self, assignment: Assignment, folder: Path) -> None:
        self._homes = {name: e.file for e in assignment.exercises for name in e.names}
        self._undo = contextlib.ExitStack()
        self._is_blocked = False
        self.sources = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
        self.forget()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._homes:
            raise AttributeError(name)
        return getattr(importlib.import_module(self._homes[name].removesuffix(".py")), name)

    def without(self, *paths: str) -> LocalSubmission:
        """The same files, imported again while the use of `paths` raises; until `end_test`."""
        for path in paths:
            self._block(path)
        self._is_blocked = True
        self.forget()
        return self

    def begin_test(self) -> None:
        """As `remote.Submission` has it; nothing is to be done here."""

    def end_test(self) -> None:
        """Allows again what `without` forbade."""
        self._undo.close()
        if self._is_blocked:
            self._is_blocked = False
            self.forget()

    def forget(self) -> None:
        """Has the files imported anew on their next use."""
        for file in set(self._homes.values()):
            sys.modules.pop(file.removesuffix(".py"), None)

    def _block(self, path: str) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise RuntimeError(f"{path} is not to be used in this exercise")

        *folders, name = path.split(".")[1:]
        owner: Any = torch
        for folder in folders:
            owner = getattr(owner, folder, None)
        target = getattr(owner, name, None)
        if target is None:  # nothing has imported it: the submission cannot be using it
            return
        if isinstance(target, type):
            self._replace(target, "__init__", refuse)
            if "forward" in vars(target):
                self._replace(target, "forward", refuse)
        else:
            self._replace(owner, name, refuse)

    def _replace(self, owner: Any, name: str, value: object) -> None:
        self._undo.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, value)
