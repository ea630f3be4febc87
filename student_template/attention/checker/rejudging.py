"""Judges again and again, every time in a process of its own that is warm already.

What one version of your code does to its process (an endless loop, a changed setting) ends with
that process. On Linux it is forked from this one. Elsewhere one that has imported PyTorch waits
in reserve, and the next one is started when it is used.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from checker.folder import EXERCISES, FOLDER, Problem

CAN_FORK = sys.platform == "linux"
SERVE = (
    "import sys; sys.path.append(sys.argv[1]); from checker.rejudging import serve; serve()",
    str(FOLDER),
)


class Judging:
    """One run of the public tests in a process of its own; ask `result` until it is there."""

    def __init__(self, path: Path) -> None:
        self._path = path  # where the process writes what it finds, and beside it what it prints

    def result(self) -> list[dict[str, Any]] | str | None:
        """The accounts of the tests, or why there are none; None while it is at work."""
        if not self._has_ended():
            return None
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            said = self._path.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
            return said.strip()[-500:] or "Your code has ended the process that ran the tests."
        return str(found) if isinstance(found, str) else list(found)

    def cancel(self) -> None:
        raise NotImplementedError

    def _has_ended(self) -> bool:
        raise NotImplementedError


class _Forked(Judging):
    def __init__(self, path: Path, chosen: list[str]) -> None:
        super().__init__(path)
        self._code: int | None = None
        self._pid = os.fork()
        if self._pid == 0:
            with contextlib.suppress(BaseException):
                log = os.open(path.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                nothing = os.open(os.devnull, os.O_RDONLY)
                for ours, theirs in ((nothing, 0), (log, 1), (log, 2)):
                    os.dup2(ours, theirs)
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # for the watcher to decide
                write_result(path, chosen)
            os._exit(0)

    def _has_ended(self) -> bool:
        if self._code is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            self._code = status if pid else None
        return self._code is not None

    def cancel(self) -> None:
        if not self._has_ended():
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)


class _Served(Judging):
    def __init__(self, path: Path, chosen: list[str], process: subprocess.Popen[str]) -> None:
        super().__init__(path)
        self._process = process
        assert process.stdin is not None
        with contextlib.suppress(OSError):  # it has died while it waited: `result` says so
            process.stdin.write(json.dumps([str(path), chosen]) + "\n")
            process.stdin.close()

    def _has_ended(self) -> bool:
        return self._process.poll() is not None

    def cancel(self) -> None:
        self._process.kill()
        self._process.wait()


class Rejudge:
    """`start` begins to judge; use it as a context, so that nothing is left behind."""

    def __init__(self, can_fork: bool = CAN_FORK) -> None:
        self._can_fork = can_fork
        self._count = 0
        self._folder = tempfile.TemporaryDirectory(prefix="check-", ignore_cleanup_errors=True)
        self._reserve: tuple[Path, subprocess.Popen[str]] | None = None
        if can_fork:
            warm_up()
        else:
            self._reserve = self._spawn()

    def __enter__(self) -> Rejudge:
        return self

    def __exit__(self, *_: object) -> None:
        if self._reserve is not None:
            self._reserve[1].kill()
            self._reserve[1].wait()
        self._folder.cleanup()

    def start(self, chosen: list[str]) -> Judging:
        """Begin to judge the exercises of these ids."""
        if self._reserve is None:
            return _Forked(self._next_path(), chosen)
        (path, process), self._reserve = self._reserve, self._spawn()
        return _Served(path, chosen, process)

    def _next_path(self) -> Path:
        self._count += 1
        return Path(self._folder.name) / f"{self._count}.json"

    def _spawn(self) -> tuple[Path, subprocess.Popen[str]]:
        path = self._next_path()
        with path.with_suffix(".log").open("w", encoding="utf-8") as log:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", *SERVE],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                text=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
                start_new_session=True,
            )
        return path, process


def serve() -> None:
    """Be the process in reserve: get warm, wait for one job, do it and end."""
    warm_up()
    line = sys.stdin.readline()
    if line:
        path, chosen = json.loads(line)
        write_result(Path(path), chosen)


def warm_up() -> None:
    """Import what takes time."""
    sys.path.insert(0, str(FOLDER / "tests"))
    for name in ("checker.judge", "comparison"):
        importlib.import_module(name)
    gc.freeze()  # what is there by now stays


def write_result(path: Path, chosen: list[str]) -> None:
    """Judge, and write the accounts, or the words of a Problem, to `path`."""
    from checker.judge import judge

    try:
        found: Any = judge([e for e in EXERCISES if e["id"] in chosen])
    except Problem as problem:
        found = str(problem)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(found), encoding="utf-8")
    os.replace(partial, path)
