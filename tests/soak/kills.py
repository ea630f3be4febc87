"""`kill -9` at random moments: nothing is lost, and the bytes are those of an undisturbed run."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from soak import running
from soak.endurance import Endurance
from soak.processes import Process, adopting, list_traces, look

ROLES = {
    "grader": {"grader"},
    "zygote": {"zygote", "box"},
    "worker": {"worker"},
    "judge": {"judge"},
}


@dataclass
class Victim:
    """Whom to kill and when: so many results have been written, and so much of one takes a while.

    `delay` is a part of the time that a run takes for its first result, or for a result.
    """

    target: str
    results: int
    delay: float
    is_killed: bool = False
    problems: list[str] = field(default_factory=list)


@dataclass
class Kills:
    """A class, what an undisturbed run of it writes, and how long that takes."""

    source: Path
    folder: Path
    options: tuple[str, ...] = ()
    expected: dict[str, bytes] = field(default_factory=dict)
    first_seconds: float = 0.0
    result_seconds: float = 0.0
    watched: Endurance = field(default_factory=Endurance)

    def measure(self) -> None:
        """The undisturbed run."""
        self.folder.mkdir(exist_ok=True)
        out, started = self.folder / "undisturbed", time.monotonic()
        process = running.start(self.source, out, *self.options)
        running.wait_until(process, lambda: running.count_results(out) > 0)
        first = time.monotonic() - started
        done = running.finish(process, out)
        assert done.returncode == 0, done.stdout
        self.expect(out, first, time.monotonic() - started)

    def expect(self, out: Path, first: float, whole: float) -> None:
        """Takes what an undisturbed run has written, and how long that took."""
        self.first_seconds = first
        self.result_seconds = (whole - first) / running.count_results(out)
        self.expected = running.read_all(out)

    def kill(self, victims: list[Victim], draw: random.Random) -> None:
        """One run in which these are killed, one after the other; then one that completes it."""
        out = self.folder / "killed"
        shutil.rmtree(out, ignore_errors=True)
        problems, traces = victims[0].problems, list_traces()
        with adopting() as list_left:
            process = running.start(self.source, out, *self.options)
            for victim in victims:
                self._kill_one(process, out, victim, draw)
            first = running.finish(process, out)
            if process.returncode == -signal.SIGKILL:
                problems += [f"left: {left}" for left in list_left()]
            elif process.returncode != 0:
                problems.append(f"exit code {process.returncode}: {first.stdout[-600:]}")
            problems += [f"half: {path}" for path in running.list_halves(out)]
            second = running.grade(self.source, out, *self.options)
            if second.returncode != 0:
                problems.append(f"the rerun ends in {second.returncode}: {second.stdout[-600:]}")
            problems += [f"left after the rerun: {left}" for left in list_left()]
            problems += [f"left after the rerun: {trace}" for trace in list_traces() - traces]
        problems += [f"half: {path}" for path in running.list_partials(out)]
        found = running.read_all(out)
        problems += [f"differs: {n}" for n in running.list_differences(found, self.expected)]

    def _kill_one(
        self, process: running.Running, out: Path, victim: Victim, draw: random.Random
    ) -> None:
        """Waits for the moment and kills; the first chance after it, where there is no such."""
        running.wait_until(process, lambda: running.count_results(out) >= victim.results)
        time.sleep(victim.delay * (self.result_seconds if victim.results else self.first_seconds))
        found: list[Process] = []

        def is_there() -> bool:
            found[:] = [p for p in look(process.pid) if p.role in ROLES[victim.target]]
            return bool(found)

        if running.wait_until(process, is_there):
            with contextlib.suppress(ProcessLookupError):  # it has ended by itself
                os.kill(draw.choice(found).pid, signal.SIGKILL)
                victim.is_killed = True


def plan(count: int, size: int, draw: random.Random) -> Iterator[list[Victim]]:
    """`count` kills in runs of `size`: the grader alone in a run, of the others two in a run."""
    others = itertools.cycle(["zygote", "worker", "judge", "worker"])
    made = 0
    while made < count:
        names = ["grader"] if made % 3 == 0 or made == count - 1 else [next(others), next(others)]
        moments = sorted(draw.randrange(size - 2) for _ in names)
        made += len(names)
        yield [Victim(n, m, draw.uniform(0, 1)) for n, m in zip(names, moments, strict=True)]
