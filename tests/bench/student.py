"""What a student waits for: a check over importing torch and pytest, and a save while watching."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.running import python, run

from autograder.assignment import Assignment, load

Row = tuple[str, str]
SAVES = 20
JUDGED = b"Checked in "


def report(assignment_id: str) -> Iterator[Row]:
    """Measure `python check.py` and `python check.py --watch` on the right answer."""
    assignment = load(assignment_id)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "student"
        unpack(assignment, folder)
        check = [sys.executable, folder / "check.py"]
        bare, ours = [], []
        for _ in range(7):  # in turns, so that a busy moment meets both
            bare.append(run(python("import torch, pytest")).seconds)
            ours.append(run(check).seconds)
        ratio = statistics.median(ours) / statistics.median(bare)
        yield "python -c 'import torch, pytest'", f"{statistics.median(bare):.2f} s"
        yield "python check.py over that", f"{ratio:.2f} (target: at most 1.3)"
        seconds = statistics.median(watch_saves(folder, assignment.exercises[0].file))
        yield f"a save while watching, median of {SAVES}", f"{seconds:.2f} s (target: at most 0.3)"


def unpack(assignment: Assignment, folder: Path) -> None:
    """The bundle as handed out, with the solution typed in."""
    shutil.copytree(assignment.template_dir, folder)
    for exercise in assignment.exercises:
        shutil.copy(assignment.solution_dir / exercise.file, folder)


def watch_saves(folder: Path, file: str) -> list[float]:
    """Seconds from each save to the moment that the screen shows its result."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, folder / "check.py", "--watch"],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    seconds = []
    try:
        _wait_for_result(ours)
        for turn in range(SAVES):
            text = (folder / file).read_text(encoding="utf-8")
            time.sleep(0.5)
            began = time.perf_counter()
            (folder / file).write_text(f"{text}# {turn}\n", encoding="utf-8")
            _wait_for_result(ours)
            seconds.append(time.perf_counter() - began)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(ours)
    return seconds


def _wait_for_result(terminal: int, patience: float = 60.0) -> None:
    seen, deadline = b"", time.monotonic() + patience
    while JUDGED not in seen:
        if not select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise RuntimeError("the watcher shows no result")
        seen += os.read(terminal, 65536)
    while select.select([terminal], [], [], 0.05)[0]:  # the rest of the screen
        os.read(terminal, 65536)
