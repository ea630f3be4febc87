"""Feedback files named as an LMS wants them for bulk upload.

Canvas attaches a file to a student's submission by the first two numbers in its name, the user's
and the attachment's, and shows it under the attachment's own name: so it gets the Markdown page,
which every program shows as text. Moodle takes a file into the folder that it was downloaded in.
Elsewhere there is a folder for each student.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from autograder.errors import KitError
from autograder.export.marks import Mark

MOODLE = "_assignsubmission_"
PAGE, TEXT = "feedback.html", "feedback.md"


def collect_feedback(
    folder: Path, marks: Sequence[Mark], lms: str
) -> tuple[dict[str, bytes], list[str]]:
    """Return the files of the archive by name, and whose feedback has no place in it and why.

    Raises:
        KitError: a feedback file cannot be read.
    """
    files: dict[str, bytes] = {}
    without: list[str] = []
    for mark in marks:
        if mark.record is None:
            continue
        if mark.result is None:
            without.append(f"{mark.id}: not graded yet")
            continue
        name = _name(mark, lms)
        if not name:
            without.append(f"{mark.id}: handed in no file that {lms.capitalize()} knows")
        elif name not in files:
            path = folder / mark.record.student / (TEXT if lms == "canvas" else PAGE)
            try:
                files[name] = path.read_bytes()
            except OSError as error:
                raise KitError(f"{path} cannot be read: {error.strerror}.") from error
    return files, without


def _name(mark: Mark, lms: str) -> str:
    record = mark.record
    if record is None:
        return ""
    if lms == "folders":
        return f"{record.student}/{PAGE}"
    is_moodle = MOODLE in record.feedback_name
    if not record.feedback_name or is_moodle != (lms == "moodle"):
        return ""
    if not is_moodle:
        return f"{record.feedback_name}_{TEXT}"
    who = mark.student
    if who.moodle_id and who.moodle_id != record.moodle_id:  # of a group: a file for each member
        called = re.sub(r"[\W_]+", " ", who.name or who.id).strip()
        return f"{called}_{who.moodle_id}{MOODLE}file/{PAGE}"
    return f"{record.feedback_name}/{PAGE}" if record.moodle_id else ""
