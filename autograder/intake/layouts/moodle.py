"""Moodle: `<full name>_<participant>_assignsubmission_file/...`, or flat with `_<file>` behind it.

Underscores in names are blanks. The number is the participant's, the one of "Participant 12" in
the grading worksheet, and not the user's. Text typed into the page is in a folder of its own,
`..._assignsubmission_onlinetext`. Groups stand in place of names, the default group without a
number (moodle, `mod/assign/classes/downloader.php`).
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace

from autograder.intake.layouts.candidate import Candidate, Identity
from autograder.intake.tree import File, Folder
from autograder.plaintext import clean_line

MARK = "_assignsubmission_"
_ENTRY = re.compile(
    r"(?P<prefix>(?P<name>[^_]*)(?:_(?P<uid>\d+))?_assignsubmission_(?P<plugin>[a-z]+))"
    r"(?:_(?P<file>.*))?",
    re.DOTALL,
)


def is_entry(name: str) -> bool:
    """Tell whether a file or folder is named as Moodle does."""
    return _ENTRY.fullmatch(name) is not None


def read_entries(entries: Iterable[File | Folder]) -> list[Candidate]:
    """Put the files and folders of each participant together."""
    students: dict[tuple[str, str], Candidate] = {}
    for entry in sorted(entries, key=lambda entry: entry.name):
        found = _ENTRY.fullmatch(unicodedata.normalize("NFC", entry.name))
        if found is None:
            continue
        name, number = " ".join(found["name"].split()), found["uid"] or ""
        candidate = students.get((name, number))
        if candidate is None:
            candidate = students[name, number] = _make_candidate(name, number, entry.name)
        if found["plugin"] == "file" or not candidate.feedback_name:
            candidate.feedback_name = found["prefix"]
        _add(candidate.content, entry, found["file"] or "")
    return list(students.values())


def _make_candidate(name: str, number: str, origin: str) -> Candidate:
    blind = name.casefold() == "participant"
    called = f"{name} {number}" if blind else f"{name}-{number}" if number else name
    return Candidate(
        name=called or "nameless",
        origin=clean_line(origin),
        content=Folder(called),
        identity=Identity(name="" if blind else name, moodle_id=number),
    )


def _add(content: Folder, entry: File | Folder, file_name: str) -> None:
    if isinstance(entry, File):
        content.files.append(replace(entry, name=file_name or entry.name))
        return
    content.files += entry.files
    content.folders += entry.folders
    content.refused += entry.refused
