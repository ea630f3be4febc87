"""Ctrl-C: once, and what runs is finished and written; twice, and it ends now."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path

from soak import running
from soak.processes import adopting

from autograder import results

INTERRUPTED = 130
NOW_SECONDS = 20.0  # within which "now" is, on a machine with much else to do


def check(source: Path, folder: Path, expected: dict[str, bytes], times: int) -> list[str]:
    """Interrupts a run that often, as a terminal does, and has another complete it."""
    out, problems = folder / "interrupted", []
    shutil.rmtree(out, ignore_errors=True)
    size = sum(1 for _ in source.iterdir())
    with adopting() as list_left:
        process = running.start(source, out, "--jobs", "2")
        running.wait_until(process, lambda: running.count_results(out) > 0)
        asked = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        if times == 2:
            time.sleep(0.1)
            os.killpg(process.pid, signal.SIGINT)
        done = running.finish(process, out)
        seconds = time.monotonic() - asked
        problems += [f"left: {left}" for left in list_left()]
    if done.returncode != INTERRUPTED:
        problems.append(f"exit code {done.returncode}: {done.stdout[-600:]}")
    if "Traceback" in done.stdout:
        problems.append(f"a traceback: {done.stdout[-600:]}")
    if times == 2 and seconds > NOW_SECONDS:
        problems.append(f"it took {seconds:.1f} s to stop")
    count = running.count_results(out)
    if not 0 < count < size:
        problems.append(f"{count} of {size} were graded when it was interrupted")
    problems += [f"half: {path}" for path in running.list_halves(out)]
    rows = (out / "grades.csv").read_text(encoding="utf-8").splitlines()
    graded = [row for row in rows[1:] if row.split(",")[3] == "graded"]
    if len(rows) != size + 2 or len(graded) != count:
        problems.append(f"grades.csv has {len(rows)} lines, {len(graded)} graded, not {count}")
    for path in out.glob("*/result.json"):
        if results.decode(path.read_bytes()).status != "graded":
            problems.append(f"{path} holds a failure")
    again = running.grade(source, out)
    if again.returncode != 0:
        problems.append(f"the rerun ends in {again.returncode}: {again.stdout[-600:]}")
    differences = running.list_differences(running.read_all(out), expected)
    return problems + [f"differs: {name}" for name in differences]
