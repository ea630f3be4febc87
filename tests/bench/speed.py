"""A class against the floor; growth with its size; memory; the first result."""

from __future__ import annotations

import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.classes import list_class, write_class
from bench.floor import Floor
from bench.running import Run, median_seconds, python, run

from autograder.assignment import load

Row = tuple[str, str]
ROUNDS = 5


def grade(assignment_id: str, submissions: Path, out: Path, *, sees_memory: bool = False) -> Run:
    """Run the real command on a class, anew."""
    command = [sys.executable, "-m", "autograder", "grade", assignment_id, submissions]
    command += ["--out", out, "--fresh"]
    return run(command, lambda: any(out.glob("*/result.json")), sees_memory=sees_memory)


def grade_class(assignment_id: str, size: int, *, sees_memory: bool = False) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        submissions = Path(folder) / "class"
        write_class(load(assignment_id), size, submissions)
        return grade(assignment_id, submissions, Path(folder) / "out", sees_memory=sees_memory)


def measure_floor(assignment_id: str, size: int) -> float:
    """Seconds for a class where each core runs its share in one warm process, imports apart."""
    cores = len(os.sched_getaffinity(0))
    context = multiprocessing.get_context("spawn")
    ends = context.Queue()
    start = context.Barrier(cores)
    processes = [
        context.Process(target=_run_share, args=(assignment_id, size, cores, core, start, ends))
        for core in range(cores)
    ]
    for process in processes:
        process.start()
    spans = [ends.get() for _ in processes]
    for process in processes:
        process.join()
    return max(end for _, end in spans) - min(begin for begin, _ in spans)


def _run_share(
    assignment_id: str, size: int, cores: int, core: int, start: object, ends: object
) -> None:
    assignment = load(assignment_id)
    share = list(list_class(assignment, size).values())[core::cores]
    floor = Floor(assignment)
    floor.run(share[0])  # warm
    start.wait()  # type: ignore[attr-defined]
    began = time.monotonic()
    for files in share:
        floor.run(files)
    ends.put((began, time.monotonic()))  # type: ignore[attr-defined]


def report_class(assignment_id: str, size: int) -> Iterator[Row]:
    """(a) A class over the floor: medians of rounds that take turns, as machines have moods."""
    rounds = [
        (grade_class(assignment_id, size).seconds, measure_floor(assignment_id, size))
        for _ in range(ROUNDS)
    ]
    ours, floor = (statistics.median(seconds) for seconds in zip(*rounds, strict=True))
    ratios = sorted(one / other for one, other in rounds)
    yield f"class of {size}: seconds per submission", f"{ours / size:.3f}"
    yield "the floor, seconds per submission", f"{floor / size:.3f}"
    text = f"{statistics.median(ratios):.2f}, from {ratios[0]:.2f} to {ratios[-1]:.2f}"
    yield f"class over floor, median of {ROUNDS} rounds", f"{text} (target: at most 2.0)"


def report_start(assignment_id: str) -> Iterator[Row]:
    """(c) Start-up to the first result, over importing torch."""
    torch = median_seconds(python("import torch"))
    with tempfile.TemporaryDirectory() as folder:
        submissions = Path(folder) / "class"
        write_class(load(assignment_id), 4, submissions)
        firsts = sorted(
            grade(assignment_id, submissions, Path(folder) / f"out{turn}").first_seconds
            for turn in range(5)
        )
    yield "import torch", f"{torch:.2f} s"
    yield "first result over import torch", f"{firsts[2] / torch:.2f} (target: at most 1.5)"


def report_growth(assignment_id: str, sizes: tuple[int, ...]) -> Iterator[Row]:
    """(d) and (e): a larger class begins as a smaller one does.

    Up to the largest and down again: a machine that becomes slower in between is no growth.
    """
    runs: dict[int, list[Run]] = {size: [] for size in sizes}
    for size in [*sizes, *sizes[-2::-1]]:
        runs[size].append(grade_class(assignment_id, size, sees_memory=True))
    before, first = (0, 0.0), 0.0
    for size, measured in runs.items():
        seconds = statistics.mean(run.seconds for run in measured)
        memory = max(run.memory_mib for run in measured)
        added = (seconds - before[1]) / (size - before[0])
        text = f"{seconds:.0f} s; {added:.3f} s for each one added; {memory:.0f} MiB"
        if before[0]:
            first = first or added
            text += f"; {added / first:.2f} of what the first ones added"
        before = (size, seconds)
        yield f"{size} submissions", text
