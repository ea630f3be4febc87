"""A long class: what the grader holds must not grow with it, and nothing may be left behind."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from soak import running
from soak.processes import Process, adopting, list_traces, look

from autograder import expectation, results

LOOK_SECONDS = 0.2
ZOMBIE_SECONDS, ZOMBIE_LOOKS = 3.0, 5
"""A process that has ended is a zombie for a moment, longer where the machine stands still."""
GROWTH = {"grader": 30.0, "judge": 30.0, "zygote": 10.0}
"""MiB that each may hold more at the end of a class of a thousand than early in it.

The grader knows all results, to report on the class.
"""
DESCRIPTORS = {"grader": 4, "judge": 8, "zygote": 8}
"""Likewise: these are what is in use at one moment, not what is lost."""
TABLES = 80
"""Descriptors, and MiB, of the fault tables that a judge maps when it first needs them."""


@dataclass
class Look:
    """The processes of a run at one moment, and how many results there were."""

    results: int
    family: list[Process]
    moment: float = field(default_factory=time.monotonic)


@dataclass
class Endurance:
    """What one run of a class has shown."""

    size: int = 0
    seconds: float = 0.0
    first_seconds: float = 0.0
    looks: list[Look] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def compare(self, role: str) -> tuple[float, float, float, float] | None:
        """Memory and descriptors in the second and in the last fifth of the run.

        Of all processes with that role that were there in both; None when there is none.
        """
        early = self._hold(role, 0.2, 0.4)
        late = self._hold(role, 0.8, 1.0)
        both = early.keys() & late.keys()
        if not both:
            return None
        pairs = [(early[pid], late[pid]) for pid in both]
        worst = max(pairs, key=lambda pair: pair[1][0] - pair[0][0])
        most = max(pairs, key=lambda pair: pair[1][1] - pair[0][1])
        return worst[0][0], worst[1][0], most[0][1], most[1][1]

    def _hold(self, role: str, begin: float, end: float) -> dict[int, tuple[float, float]]:
        looks = [k for k in self.looks if k.results]
        looks = [k for k in looks if any(p.role == "judge" for p in k.family)]  # not yet at its end
        first = int(begin * len(looks))
        looks = looks[first : max(first + 1, int(end * len(looks)))]
        found: dict[int, list[Process]] = {}
        for moment in looks:
            for process in moment.family:
                if process.role == role and process.state != "Z":
                    found.setdefault(process.pid, []).append(process)
        return {
            pid: (
                statistics.median(p.memory for p in seen),
                statistics.median(p.descriptors for p in seen),
            )
            for pid, seen in found.items()
            if len(seen) > len(looks) / 2
        }

    def judge(self, tables: int = 0) -> None:
        """Notes what grows; `tables` may still be mapped late, in a short class."""
        for role, allowed in GROWTH.items():
            held, late = self.compare(role), tables * (role == "judge")
            if held is None:
                self.problems.append(f"no {role} lived from the second fifth to the last")
                continue
            if held[1] - held[0] > allowed + late:
                self.problems.append(f"{role}: {held[0]:.0f} MiB became {held[1]:.0f}")
            if held[3] - held[2] > DESCRIPTORS[role] + late:
                self.problems.append(f"{role}: {held[2]:.0f} descriptors became {held[3]:.0f}")


def run(
    source: Path,
    folder: Path,
    hostile: Path,
    *options: str,
    look_seconds: float = LOOK_SECONDS,
) -> Endurance:
    """Grades a class and watches; `hostile` holds the cases, which say what they must not leave."""
    found, out = Endurance(size=sum(1 for _ in source.iterdir())), folder / "long"
    traces = list_traces()
    with adopting() as list_left:
        started = time.monotonic()
        process = running.start(source, out, *options)
        while process.poll() is None:
            found.looks.append(Look(running.count_results(out), look(process.pid)))
            if not found.first_seconds and found.looks[-1].results:
                found.first_seconds = time.monotonic() - started
            time.sleep(look_seconds)
        found.seconds = time.monotonic() - started
        done = running.finish(process, out)
        found.problems += [f"left: {left}" for left in list_left()]
    if done.returncode != 0:
        found.problems.append(f"exit code {done.returncode}: {done.stdout[-600:]}")
    found.problems += [f"left: {trace}" for trace in sorted(list_traces() - traces)]
    found.problems += [f"half: {path}" for path in running.list_halves(out)]
    found.problems += [f"half: {path}" for path in running.list_partials(out)]
    found.problems += _list_zombies(found.looks)
    found.problems += _list_ungraded(out, source)
    found.problems += _list_effects(hostile)
    return found


def _list_zombies(looks: Sequence[Look]) -> list[str]:
    """Processes that ended long ago and that nobody has waited for."""
    seen: dict[int, list[float]] = {}
    for found in looks:
        zombies = {process.pid for process in found.family if process.state == "Z"}
        seen = {pid: [*seen.get(pid, []), found.moment] for pid in zombies}
        lasting = [
            pid
            for pid, moments in seen.items()
            if len(moments) >= ZOMBIE_LOOKS and moments[-1] - moments[0] >= ZOMBIE_SECONDS
        ]
        if lasting:
            return [f"zombies: {lasting}"]
    return []


def _list_ungraded(out: Path, source: Path) -> list[str]:
    problems = []
    for path in sorted(source.iterdir()):
        try:
            result = results.decode((out / path.name / "result.json").read_bytes())
        except (OSError, results.InvalidResult) as error:
            problems.append(f"no result for {path.name}: {error}")
            continue
        if result.status != "graded":
            problems.append(f"{path.name} is {result.status}: {result.reason}")
    return problems


def _list_effects(hostile: Path) -> list[str]:
    """The traces that hostile cases say they would leave, if they could."""
    problems = []
    for declaration in hostile.glob("*/case.toml"):
        effects = expectation.read_case(declaration.parent).effects
        for name in effects.get("files", []):
            if "{" not in name and Path(name).exists():
                problems.append(f"{declaration.parent.name} has made {name}")
    return problems
