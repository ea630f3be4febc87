"""Classes to measure with: submissions of the gallery, as many as wanted, the same every time."""

from __future__ import annotations

import random
from pathlib import Path

from autograder.assignment import Assignment
from autograder.gallery import find_gallery

SHARES = {"right": 0.75, "wrong": 0.22, "template": 0.03}
"""A class on the morning after: most are right, some are not, a few have not begun."""
SLOW = {
    "right-mha-token-loop",
    "right-mha-scalar-loops",
    "right-pe-class",
    "right-pe-scalar-loops",
}
"""Right answers that take seconds of their own arithmetic, which no grader can make faster."""


def list_class(assignment: Assignment, size: int) -> dict[str, dict[str, bytes]]:
    """Return the files of each student: `size` of them, drawn from the gallery."""
    found = {
        submission.student: submission.files
        for submission in find_gallery(assignment).submissions
        if not submission.ungradable and submission.student not in SLOW
    }
    kinds = {
        kind: sorted(student for student in found if student.startswith(kind)) for kind in SHARES
    }
    draw = random.Random(0)  # a larger class begins as a smaller one does
    chosen = {}
    for number in range(size):
        kind = draw.choices(list(SHARES), weights=list(SHARES.values()))[0]
        chosen[f"student{number:04d}"] = found[draw.choice(kinds[kind])]
    return chosen


def write_class(assignment: Assignment, size: int, folder: Path) -> None:
    """Write a class as `autograder grade` reads it: a folder for each student."""
    for student, files in list_class(assignment, size).items():
        (folder / student).mkdir(parents=True)
        for name, data in files.items():
            (folder / student / name).write_bytes(data)
