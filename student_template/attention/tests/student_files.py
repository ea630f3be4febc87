"""Your files, as the tests see them: read anew for each exercise, and nothing else of yours.

When your work is graded, the files of the exercises are all that is there. So here, too, a file
of your own beside them cannot be imported by them.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NoReturn

import pytest
import torch

TESTS = Path(__file__).resolve().parent
FOLDER = TESTS.parent
ASSIGNMENT: dict[str, Any] = {"exercises": []}
if (TESTS / "graded.json").is_file():
    ASSIGNMENT = json.loads((TESTS / "graded.json").read_text(encoding="utf-8"))
EXERCISES: list[dict[str, Any]] = ASSIGNMENT["exercises"]


_load_state_dict = torch.nn.Module.load_state_dict
importing: list[float] = []
"""Seconds that imports of your files took during the test that is running."""


class NotThere(Exception):
    """A file, or a name in it, is not there."""


class NotImported(Exception):
    """A file cannot be imported; `__cause__` says why."""


class Submission:
    """Your work: `submission.Name` is the class or function of that name that you wrote.

    It comes from the file that belongs to it, or from `namespace` where one is given: the
    `globals()` of a notebook.
    """

    def __init__(self, patch: pytest.MonkeyPatch, namespace: dict[str, Any] | None = None) -> None:
        self._patch = patch
        self._namespace = namespace
        patch.setattr(os, "_exit", stop)
        patch.setattr(torch.nn.Module, "load_state_dict", load_state)

    def __getattr__(self, name: str) -> Any:
        exercise = next((e for e in EXERCISES if name in e["names"]), None)
        if exercise is None:
            raise AttributeError(name)
        if self._namespace is not None:
            if name not in self._namespace:
                raise NotThere(f"there is no {name} yet; run the cell that defines it")
            return self._namespace[name]
        module = import_file(home_of(name, exercise["file"]))
        if not hasattr(module, name):
            raise NotThere(f"{exercise['file']} defines no {name}; keep the names it came with")
        return getattr(module, name)

    def without(self, *paths: str) -> Submission:
        """The same work while the use of `paths`, such as "torch.nn.Linear", raises."""
        for path in paths:
            self._block(path)
        for exercise in EXERCISES:
            self._patch.delitem(sys.modules, Path(exercise["file"]).stem, raising=False)
        return Submission(self._patch, self._namespace)

    def _block(self, path: str) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise RuntimeError(f"{path} is not to be used in this exercise")

        owner: Any = torch
        *folders, name = path.split(".")[1:]
        for folder in folders:
            owner = getattr(owner, folder, None)
        target = getattr(owner, name, None)
        if isinstance(target, type):
            self._patch.setattr(target, "__init__", refuse)
            self._patch.setattr(target, "forward", refuse, raising=False)
        elif target is not None:
            self._patch.setattr(owner, name, refuse)
            for own, value in list((self._namespace or {}).items()):
                if value is target:
                    self._patch.setitem(self._namespace, own, refuse)


def forget_files() -> None:
    """Have the files imported anew: done once for each exercise, as in grading."""
    for exercise in EXERCISES:
        sys.modules.pop(Path(exercise["file"]).stem, None)


def home_of(name: str, file: str) -> str:
    """The file that defines `name`: its own, or another one where its own is missing or empty."""
    if is_there(file) and (FOLDER / file).read_bytes().strip():
        return file
    pattern = rf"^(?:(?:class|def) {name}\b|{name} *= *lambda\b)".encode()
    for other in (exercise["file"] for exercise in EXERCISES):
        if is_there(other) and re.search(pattern, (FOLDER / other).read_bytes(), re.MULTILINE):
            return str(other)
    return file


def load_state(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
    """`load_state_dict` for modules that hold a table made in inference mode, too."""
    for part in module.modules():
        for name, buffer in part.named_buffers(recurse=False):
            if buffer.is_inference():
                part._buffers[name] = buffer.clone()
    return _load_state_dict(module, *args, **kwargs)


def import_file(name: str) -> ModuleType:
    """Import one of the exercises' files.

    Raises:
        NotThere: there is no such file.
        NotImported: it stops with an error.
    """
    stem = Path(name).stem
    if stem not in sys.modules and not is_there(name):
        raise NotThere(f"file not found: {name}")
    begun = time.monotonic()
    try:
        return importlib.import_module(stem)
    except NotThere:
        raise
    except (Exception, SystemExit) as error:
        raise NotImported(name) from error
    finally:
        importing.append(time.monotonic() - begun)


def is_there(name: str) -> bool:
    """Say whether the folder has a file of exactly this name, small and capital letters told apart.

    Some systems do not tell them apart, and the one that grades does.
    """
    return any(path.name == name for path in FOLDER.iterdir())


@contextlib.contextmanager
def only_handed_in() -> Iterator[None]:
    """Let imports find, of this folder, the files of the exercises and nothing else."""
    finder = _Finder()
    path = [entry for entry in sys.path if entry and Path(entry).resolve() != FOLDER]
    before, sys.path[:] = list(sys.path), path
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        sys.path[:] = before


@contextlib.contextmanager
def settings_kept() -> Iterator[None]:
    """Compute as in grading, on one thread, and leave no setting of PyTorch changed."""
    threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    torch.set_num_threads(1)  # the order of additions is the same everywhere
    torch.set_default_dtype(torch.float32)
    try:
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            yield
    finally:
        torch.set_num_threads(threads)
        torch.set_default_dtype(dtype)


def stop(code: object = None) -> NoReturn:
    """In place of `os._exit`, which would end the tests without a word."""
    raise SystemExit(code)


class _Finder:
    """Finds the exercises' files, and says of others why they cannot be had."""

    def __init__(self) -> None:
        self.files = {Path(exercise["file"]).stem: exercise["file"] for exercise in EXERCISES}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name in self.files:
            if not is_there(self.files[name]):
                raise NotThere(f"file not found: {self.files[name]}")
            origin = str(FOLDER / self.files[name])
            loader = _Source(name, origin)
            return importlib.util.spec_from_file_location(name, origin, loader=loader)
        is_own = path is None and (FOLDER / f"{name}.py").is_file()
        if is_own and importlib.machinery.PathFinder.find_spec(name) is None:
            raise ModuleNotFoundError(
                f"{name}.py is not handed in: move what you need of it into this file"
            )
        return None


class _Source(importlib.machinery.SourceFileLoader):
    """Compiles what stands in the file: a compiled copy can be older by less than a second."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)
