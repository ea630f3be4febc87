"""What the grade cells of a notebook call: graded tests, run on what the notebook has defined.

`run("exercise::test", globals())` runs a public test, `judge("exercise", test, globals())` one
that the cell brings with it. Both raise `NotYet` where the test does not pass. Your classes and
functions are taken as they are now, so run their cells again after a change.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import runpy
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the tests import what lies beside them by its plain name

SUPPLIED = HERE.parent / "supplied.py"  # where grading has it, and nowhere else

import explanation  # noqa: E402
from student_files import ASSIGNMENT, EXERCISES, Submission  # noqa: E402

Test = Callable[[Any], None]
_unwritten: dict[str, tuple[list[Any], bool]] = {}  # what was defined, and what that meant
_right: dict[str, dict[str, Any]] = {}  # exercise to right definitions of its names
_perfect: dict[str, bool] = {}  # of exercises whose cells have run, whether every test passed
_folders: list[tempfile.TemporaryDirectory[str]] = []


class NotYet(AssertionError):
    """A test that does not pass. A notebook shows its words alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def run(test_id: str, namespace: dict[str, Any]) -> None:
    """Run a public test, "exercise::test", on what a notebook has defined.

    Raises:
        NotYet: it does not pass; the message says what was promised and what happened.
    """
    exercise, _, name = test_id.partition("::")
    test = load_tests(exercise)[name]
    (mark,) = [mark for mark in test.pytestmark if mark.name == "graded"]  # type: ignore[attr-defined]
    said = mark.kwargs
    judge(exercise, test, namespace, said["title"], said.get("hint", ""), is_open=True)


def judge(
    exercise: str,
    test: Test,
    namespace: dict[str, Any],
    title: str,
    hint: str = "",
    *,
    is_open: bool = False,
) -> None:
    """Run a test on what a notebook has defined; only if `is_open` is what it found said.

    An exercise of which any public test meets the stub has no points at all.

    Raises:
        NotYet: it does not pass.
    """
    lines = [f"Not there yet: {title}"]
    if is_unwritten(exercise, namespace):
        lines.append("This exercise is not yet written.")
    else:
        error = _run(test, namespace)
        if error is None or _passes_supplied(exercise, test, namespace):
            _perfect.setdefault(exercise, True)
            return
        if is_open:
            lines += explanation.judge(exercise, error)[1]
        elif not isinstance(error, AssertionError):
            lines.append(f"Your code raised {type(error).__name__}.")
        lines += [f"? {hint}"] if hint else []
    _perfect[exercise] = False
    raise NotYet("\n".join(lines)) from None


def supply(exercise: str, source: str) -> None:
    """Lets exercises that use this one be judged once more with a right one in its place."""
    made: dict[str, Any] = {"__name__": "supplied"}
    for known in _right.values():
        made.update(known)
    exec(compile(source, f"<{exercise}>", "exec"), made)
    _right[exercise] = {name: made[name] for name in _find(exercise)["names"]}


def _passes_supplied(exercise: str, test: Test, namespace: dict[str, Any]) -> bool:
    """Tell whether a test passes with right ones in place of used exercises that are wrong."""
    if not _right and SUPPLIED.is_file():
        runpy.run_path(str(SUPPLIED))
    used = [name for name in _find(exercise)["uses"] if name in _right and not _perfect.get(name)]
    for size in range(1, len(used) + 1):
        for chosen in itertools.combinations(used, size):
            right = {name: value for each in chosen for name, value in _right[each].items()}
            if _run(test, namespace, right) is None:
                return True
    return False


def _find(exercise: str) -> dict[str, Any]:
    return next(known for known in EXERCISES if known["id"] == exercise)


def load_tests(exercise: str) -> dict[str, Test]:
    """The public tests of an exercise by name, in the order in which they stand."""
    if not (HERE / f"test_{exercise}.py").is_file():
        return {}
    module = importlib.import_module(f"test_{exercise}")
    return {name: test for name, test in vars(module).items() if name.startswith("test_")}


def is_unwritten(exercise: str, namespace: dict[str, Any]) -> bool:
    """Tell whether some public test of an exercise meets a part that still is the stub."""
    names = _find(exercise)["names"]
    found = [namespace.get(name) for known in EXERCISES for name in known["names"]]
    before, verdict = _unwritten.get(exercise, ([], False))
    if len(before) != len(found) or any(a is not b for a, b in zip(before, found, strict=True)):
        errors = (_run(test, namespace) for test in load_tests(exercise).values())
        verdict = any(_is_stub(error, names) for error in errors)
        _unwritten[exercise] = (found, verdict)
    return verdict


def _is_stub(error: Exception | None, names: list[str]) -> bool:
    """Tell whether an error comes from a part of these classes and functions that is not written.

    All stubs of a notebook may say the same, so it counts where it was raised, too.
    """
    is_ours = str(error).startswith(f"{ASSIGNMENT['id']} / ")
    if not isinstance(error, NotImplementedError) or not is_ours:
        return False
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_code.co_qualname.split(".")[0] in names


def _run(
    test: Test, namespace: dict[str, Any], right: dict[str, Any] | None = None
) -> Exception | None:
    """Run a test; what it raised, or None. What it changes of PyTorch is put back."""
    with pytest.MonkeyPatch.context() as patch, _as_in_grading():
        for name, value in (right or {}).items():
            patch.setitem(namespace, name, value)
        try:
            test(_Defined(patch, namespace))
        except Exception as error:
            return error
    return None


class _Defined(Submission):
    """The names of all exercises as a notebook defines them, and the text of its cells."""

    def __init__(self, patch: pytest.MonkeyPatch, namespace: dict[str, Any]) -> None:
        super().__init__(patch, namespace)
        text = "\n\n".join(str(cell) for cell in namespace.get("In", []))
        self.sources = {exercise["file"]: text for exercise in EXERCISES}


@contextlib.contextmanager
def _as_in_grading() -> Iterator[None]:
    """What grading sets, and the notebook's own settings again afterwards."""
    threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    try:
        torch.set_num_threads(1)  # the order of additions is the same everywhere
        torch.set_default_dtype(torch.float32)
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            yield
    finally:
        torch.set_num_threads(threads)
        torch.set_default_dtype(dtype)


def beside(files: dict[str, str]) -> str:
    """Write what a test reads beside itself; the path that it takes for its own."""
    folder = tempfile.TemporaryDirectory(prefix="given-")
    _folders.append(folder)  # kept until the notebook's process ends
    for name, text in files.items():
        (Path(folder.name) / name).write_text(text, encoding="utf-8")
    return str(Path(folder.name) / "tests" / "test.py")
