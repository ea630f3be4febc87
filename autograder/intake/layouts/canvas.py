"""Canvas: `<lastfirst>[_LATE]_<user id>_<attachment id>_<file>`, all files side by side.

The name is the sortable one in small letters without anything that is no letter, digit or
underscore; anonymous submissions have `anon_<id>` for name and user id. Canvas puts `-1`, `-2`
before the ending of a file that a student hands in again (instructure/canvas-lms,
`lib/content_zipper.rb`).
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from autograder.assignment import Assignment
from autograder.intake.file_names import rank_name
from autograder.intake.layouts.candidate import Candidate, Identity
from autograder.intake.submission import Attempt
from autograder.intake.tree import File, Folder
from autograder.plaintext import clean_line

_NAME = r"[^\s.,;:()'\-]*?"
_NAMED = re.compile(
    rf"(?P<prefix>(?P<name>{_NAME})(?P<late>_LATE)?_(?P<uid>\d+)_(?P<attachment>\d+))_(?P<file>.+)",
    re.DOTALL,
)
_TEXT = re.compile(
    rf"(?P<prefix>(?P<name>{_NAME})(?P<late>_LATE)?_(?P<uid>\d+))_(?P<file>(?:text|link)\.html)"
)
_ANONYMOUS = re.compile(
    r"(?P<prefix>(?P<late>LATE_)?anon_(?P<uid>[A-Za-z0-9]+)(?P<late2>_LATE)?"
    r"(?:_(?P<attachment>\d+))?)_(?P<file>.+)",
    re.DOTALL,
)
_COPY = re.compile(r"[ _-]*\(?\d{0,3}\)?(?=\.[^.]*$|$)")  # "layer (1).py", "layer-2.py"
_AGAIN = re.compile(r"^(?P<stem>.+)-(?P<number>\d{1,3})(?P<ending>\.[^.]+)$", re.DOTALL)


@dataclass(frozen=True)
class Entry:
    """One file of a Canvas archive."""

    file: File
    prefix: str
    name: str  # empty when anonymous
    user: str
    attachment: int
    display: str  # the file's own name
    is_late: bool
    is_anonymous: bool


def read_entry(file: File) -> Entry | None:
    """Return what a file's name says, or None when it is not named as Canvas does."""
    name = unicodedata.normalize("NFC", file.name)
    found = _ANONYMOUS.fullmatch(name)
    is_anonymous = found is not None
    found = found or _TEXT.fullmatch(name) or _NAMED.fullmatch(name)
    if found is None:
        return None
    parts = found.groupdict()
    called = parts.get("name") or ""
    if called != called.lower() or len(parts["uid"]) > 25:
        return None
    return Entry(
        file=file,
        prefix=parts["prefix"],
        name=called,
        user=parts["uid"],
        attachment=int(parts.get("attachment") or 0),
        display=parts["file"],
        is_late=bool(parts.get("late") or parts.get("late2")),
        is_anonymous=is_anonymous,
    )


def is_consistent(entries: Iterable[Entry]) -> bool:
    """Tell whether no two files have the same attachment's number, copies by browsers apart.

    `week_3_1_ada.py` and `week_3_1_bob.py` are not Canvas', though they look like it.
    """
    seen: dict[int, tuple[str, str]] = {}
    for entry in entries:
        bare = _COPY.sub("", entry.display)
        if entry.attachment and seen.setdefault(entry.attachment, (entry.user, bare)) != (
            entry.user,
            bare,
        ):
            return False
    return True


def read_entries(entries: Iterable[Entry], assignment: Assignment) -> list[Candidate]:
    """Put the files of each student together."""
    students: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        students[entry.name, entry.user].append(entry)
    return [_make_candidate(files, assignment) for files in students.values()]


def _make_candidate(entries: list[Entry], assignment: Assignment) -> Candidate:
    entries.sort(key=lambda entry: (entry.attachment, entry.display))
    first, newest = entries[0], entries[-1]
    name = f"anon-{first.user}" if first.is_anonymous else f"{first.name}-{first.user}".lstrip("-")
    candidate = Candidate(
        name=name,
        origin=clean_line(newest.file.name),
        content=Folder(name),
        identity=Identity(slug=first.name, canvas_id="" if first.is_anonymous else first.user),
        is_marked_late=any(entry.is_late for entry in entries),
        order=(newest.attachment,),
        feedback_name=next((e.prefix for e in reversed(entries) if e.attachment), ""),
    )
    taken: dict[str, Entry] = {}
    for entry in entries:
        shown = _undo_renaming(entry.display, assignment)
        if shown in taken:
            earlier = taken[shown]
            candidate.attempts.append(Attempt(clean_line(earlier.file.name), ""))
        taken[shown] = entry
        if re.match(r"\d+_", entry.display) and entry.attachment:
            candidate.remarks.append(
                f"{clean_line(entry.file.name)} can be read in two ways; it was taken for the work"
                f" of user {entry.user}: see that this is right"
            )
    candidate.content.files = [
        replace(entry.file, name=shown) for shown, entry in sorted(taken.items())
    ]
    return candidate


def _undo_renaming(display: str, assignment: Assignment) -> str:
    """Return an exercise file's name without the number that Canvas gives to a second one."""
    found = _AGAIN.match(display)
    if found:
        plain = found["stem"] + found["ending"]
        if any(rank_name(plain, wanted) == (0,) for wanted in assignment.files):
            return plain
    return display
