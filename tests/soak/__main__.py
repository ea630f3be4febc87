"""`make soak`: every long run once, its figures, and exit code 1 if a promise is broken."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from soak import classes, disks, endurance, fuzz, interrupts, kills, running
from soak.kills import Kills

from autograder import assignment


def main() -> int:
    words = argparse.ArgumentParser(prog="make soak", description=__doc__)
    words.add_argument("--submissions", type=int, default=1000, help="in the long run")
    words.add_argument("--kills", type=int, default=25)
    words.add_argument("--class-size", type=int, default=30, help="of the class that is killed")
    words.add_argument("--fuzz-seconds", type=float, default=40, help="for each of two enemies")
    words.add_argument("--seed", type=int, default=0)
    chosen = words.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        soak = Soak(Path(name), chosen)
        for part in (soak.long_run, soak.kills, soak.interrupts, soak.disks, soak.fuzz):
            part()
    print(f"\n{time.monotonic() - soak.began:.0f} s, {soak.failures} broken promises")
    return 1 if soak.failures else 0


class Soak:
    """Runs the parts and says what each has found."""

    def __init__(self, folder: Path, chosen: argparse.Namespace) -> None:
        self.folder = folder
        self.chosen = chosen
        self.assignment = assignment.load("attention")
        self.failures = 0
        self.began = time.monotonic()
        self.small = classes.write_class(self.assignment, 8, folder / "small")
        self.expected: dict[str, bytes] = {}

    def say(self, title: str, figures: str, problems: list[str]) -> None:
        self.failures += len(problems)
        print(f"{time.monotonic() - self.began:5.0f} s  {title}: {figures}")
        for problem in problems[:20]:
            print(f"         BROKEN: {problem}")
        sys.stdout.flush()

    def long_run(self) -> None:
        source = self.folder / "class of many"
        classes.write_class(self.assignment, self.chosen.submissions, source, every=True)
        found = endurance.run(source, self.folder, self.assignment.gallery_dir / "hostile")
        found.judge(endurance.TABLES if self.chosen.submissions < 500 else 0)
        rate = found.size / found.seconds
        self.say(
            "endurance", f"{found.size} in {found.seconds:.0f} s, {rate:.1f}/s", found.problems
        )
        for role in endurance.GROWTH:
            if held := found.compare(role):
                memory = f"{held[0]:.0f} MiB early, {held[1]:.0f} late"
                print(f"         {role}: {memory}; descriptors {held[2]:.0f}, {held[3]:.0f}")

    def kills(self) -> None:
        size = self.chosen.class_size
        source = classes.write_class(self.assignment, size, self.folder / "class")
        self._kill("full", source, size, self.chosen.kills)
        self._kill("process", self.small, 8, 3)

    def _kill(self, isolation: str, source: Path, size: int, count: int) -> None:
        draw = random.Random(self.chosen.seed)
        trial = Kills(source, self.folder / isolation, ("--isolation", isolation))
        trial.measure()
        for victims in kills.plan(count, size, draw):
            trial.kill(victims, draw)
            who = ", ".join(f"{v.target} after {v.results} results" for v in victims)
            missed = [f"no {v.target} to kill" for v in victims if not v.is_killed]
            self.say(f"kill -9 at level {isolation}", who, victims[0].problems + missed)

    def interrupts(self) -> None:
        done = running.grade(self.small, self.folder / "expected")
        assert done.returncode == 0, done.stdout
        self.expected = running.read_all(self.folder / "expected")
        for times in (1, 2):
            problems = interrupts.check(self.small, self.folder, self.expected, times)
            self.say("SIGINT", f"{times} of them", problems)

    def disks(self) -> None:
        checks: list[Callable[..., list[str]]] = [disks.check_blocked]
        if os.geteuid() == 0:
            checks.append(disks.check_full)
        else:
            print("         only root can mount a small disk: a full one is not tried")
        for check in checks:
            self.say("output", check.__name__, check(self.small, self.folder, self.expected))

    def fuzz(self) -> None:
        seconds = self.chosen.fuzz_seconds
        found = fuzz.attack_judge(self.assignment, seconds, self.chosen.seed * 100_000)
        memory = f"{found.begin:.0f} MiB early, {found.end:.0f} late"
        figures = f"{found.judged} enemies, {found.replies} replies; {memory}"
        self.say("fuzzed judge", figures, found.problems)
        found = fuzz.attack_protocol(seconds)
        memory = f"{found.begin:.0f} MiB early, {found.end:.0f} late"
        self.say("fuzzed protocol", f"{found.examples} examples; {memory}", found.problems)


if __name__ == "__main__":
    sys.exit(main())
