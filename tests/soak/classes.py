"""Classes of right, wrong and hostile submissions mixed, the same every time."""

from __future__ import annotations

import random
import re
from pathlib import Path

from bench.classes import SLOW

from autograder.assignment import Assignment
from autograder.gallery import find_gallery

PATIENT = {
    "hostile-" + case
    for case in (
        "asks_and_keeps_graphs asks_endlessly asks_for_huge_values asks_for_the_whole_answer"
        " block_asks_the_heap endless_messages endless_parameters endless_stubborn_loop fork_bomb"
        " global_state global_state_around_right_code ignores_every_signal megabytes_of_envelope"
        " memory_in_children memory_of_tensors message_that_loops never_finishes_importing"
        " payloads_of_the_largest_size sleeps_holding_the_lock slow_drip slow_import_then_death"
    ).split()
}
"""Hostile submissions that fill seconds or memory: a class has each of them once."""
RACING = re.compile(rb"os\.write\(|Thread\(|fork\(|sendmsg\(|\.send\(")
"""In the source of those that speak out of turn or race with themselves: what their own verdicts
are depends on who is first, and no run is like another."""
SHARES = {"right": 5, "wrong": 3, "hostile": 2}


def write_class(assignment: Assignment, size: int, folder: Path, every: bool = False) -> Path:
    """Writes a class of that size, a folder for each student; with `every`, all of the above."""
    found = {
        submission.student: submission.files
        for submission in find_gallery(assignment).submissions
        if not submission.ungradable and submission.student not in SLOW
    }
    draw = random.Random(0)
    racing = {name for name, files in found.items() if RACING.search(b"".join(files.values()))}
    apart = PATIENT | racing
    kinds = {
        kind: sorted(name for name in found.keys() - apart if name.startswith(kind))
        for kind in SHARES
    }
    chosen = sorted(apart) if every else []
    while len(chosen) < size:
        kind = draw.choices(list(SHARES), weights=list(SHARES.values()))[0]
        chosen.append(draw.choice(kinds[kind]))
    draw.shuffle(chosen)
    for number, name in enumerate(chosen):
        own = folder / f"s{number:04d}-{name}"
        own.mkdir(parents=True)
        for file, data in found[name].items():
            (own / file).write_bytes(data)
    return folder
