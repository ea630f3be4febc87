"""Runs commands for measurement: how long, how much memory, when the first file was there."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LOOK_SECONDS = 0.02
MEMORY_SECONDS = 0.5


@dataclass
class Run:
    """One command: seconds in all and until a file was there, and the most memory seen."""

    seconds: float
    first_seconds: float
    memory_mib: float


def run(
    command: Sequence[str | Path],
    first: Callable[[], bool] = lambda: True,
    *,
    sees_memory: bool = False,
) -> Run:
    """Run a command to its end; its output goes nowhere.

    Looking at memory takes time from what is looked at, some 5 %, so it is done only when asked.

    Raises:
        RuntimeError: it did not end with 0.
    """
    started = time.perf_counter()
    process = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    first_seconds, peak, looked = 0.0, 0.0, 0.0
    while process.poll() is None:
        now = time.perf_counter() - started
        if not first_seconds and first():
            first_seconds = now
        if sees_memory and now > looked + MEMORY_SECONDS:
            looked, peak = now, max(peak, _memory_of(process.pid))
        if first_seconds and not sees_memory:
            process.wait()
        else:
            time.sleep(LOOK_SECONDS)
    seconds = time.perf_counter() - started
    assert process.stderr is not None
    said = process.stderr.read().decode("utf-8", "replace")
    if process.returncode != 0:
        raise RuntimeError(f"{command} ended with {process.returncode}: {said[-500:]}")
    return Run(seconds, first_seconds or seconds, peak)


def median_seconds(command: Sequence[str | Path], times: int = 5) -> float:
    return statistics.median(run(command).seconds for _ in range(times))


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def _memory_of(pid: int) -> float:
    """MiB held by a process and all it has started, shared pages divided among their holders."""
    total = 0
    for member in _family(pid):
        with contextlib.suppress(OSError), open(f"/proc/{member}/smaps_rollup") as file:
            total += sum(int(line.split()[1]) for line in file if line.startswith("Pss:"))
    return total / 1024


def _family(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
                yield from _family(int(child))
