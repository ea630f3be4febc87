"""Arbitrary bytes at the grader's side of the link: always an explicit verdict, and no growth."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import hypothesis
import msgspec
import test_protocol
from hypothesis import strategies as st
from soak.enemy import Enemy

from autograder.assignment import Assignment, Limits
from autograder.judge import Judge

LIMITS = Limits(import_wall_seconds=1, test_wall_seconds=0.5, cpu_seconds=20, memory_mib=1024)
GROWTH = 40.0  # MiB after the first third, whatever the number of replies
HUNG_SECONDS = 60.0  # for all tests of one submission


@dataclass
class Fuzz:
    """How much was tried, and what went wrong."""

    judged: int = 0
    replies: int = 0
    examples: int = 0
    begin: float = 0.0
    end: float = 0.0
    problems: list[str] = field(default_factory=list)


def attack_judge(assignment: Assignment, seconds: float, first_seed: int = 0) -> Fuzz:
    """Judges enemies with the real tests, diagnosis and pictures, for so long."""
    found = Fuzz()
    files = {name: (assignment.solution_dir / name).read_text("utf-8") for name in assignment.files}
    enemy = Enemy(first_seed)
    judge = Judge(msgspec.structs.replace(assignment, limits=LIMITS), enemy)
    started = time.monotonic()
    try:
        while (spent := time.monotonic() - started) < seconds:
            seed = first_seed + found.judged
            enemy.begin(seed)
            began = time.monotonic()
            try:
                judgement = judge.judge(files)
            except Exception as error:
                found.problems.append(f"seed {seed}: {type(error).__name__}: {error}")
                enemy.is_broken = False
                judgement = None
            found.judged += 1
            for test in judgement.tests if judgement else ():
                if test.verdict == "grader_error":
                    found.problems.append(f"seed {seed}: {test.id}: {test.staff_message[:300]}")
            if time.monotonic() - began > HUNG_SECONDS:
                found.problems.append(f"seed {seed}: {time.monotonic() - began:.0f} s")
            if spent < seconds / 3 or not found.begin:
                found.begin = _memory()
        found.end = _memory()
    finally:
        judge.close()
        enemy.close()
    found.replies = enemy.replies
    return _judged(found)


def attack_protocol(seconds: float, examples: int = 2000) -> Fuzz:
    """The tests of the protocol with other and more examples, round after round."""
    found, started = Fuzz(), time.monotonic()
    values = test_protocol.junk | test_protocol.tagged | st.lists(test_protocol.tagged, max_size=3)
    frames = st.tuples(st.integers(0, 300), st.integers(0, 300), st.binary(max_size=400))
    attacks = [
        (test_protocol.test_any_value_is_read_or_is_a_violation, (values, st.binary(max_size=64))),
        (
            test_protocol.test_any_bytes_are_a_frame_or_an_explicit_refusal,
            (st.binary(max_size=200) | frames,),
        ),
        (test_protocol.test_plain_values_survive, (test_protocol.plain,)),
    ]
    turn = 0
    while (spent := time.monotonic() - started) < seconds:
        test, strategies = attacks[turn % len(attacks)]
        trial = hypothesis.given(*strategies)(test.hypothesis.inner_test)
        trial = hypothesis.settings(max_examples=examples, database=None, deadline=None)(trial)
        try:
            hypothesis.seed(turn)(trial)()
        except Exception as error:
            found.problems.append(f"round {turn}: {type(error).__name__}: {error}")
        turn += 1
        found.examples += examples
        if spent < seconds / 3 or not found.begin:
            found.begin = _memory()
    found.end = _memory()
    return _judged(found)


def _judged(found: Fuzz) -> Fuzz:
    if found.end - found.begin > GROWTH:
        found.problems.append(f"{found.begin:.0f} MiB became {found.end:.0f}")
    return found


def _memory() -> float:
    """Resident memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
