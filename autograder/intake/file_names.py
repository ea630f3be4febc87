"""Which exercise file a name means: `layer.py`, but also `Layer.PY` and `layer (1).py`.

Browsers, LMS and second thoughts rename files. Exact names beat all of these.
"""

import re
from collections.abc import Sequence

from autograder.assignment import Assignment
from autograder.intake.tree import Folder

_PYTHON = re.compile(r"(?P<stem>.+?)\.py(?:\.txt)?", re.IGNORECASE | re.DOTALL)
_COPY_OF = re.compile(r"^(?:copy of|kopie von|copie de|copia de)\s+", re.IGNORECASE)
_NUMBER = re.compile(r"^[\s_-]*\(?(?:v|version)?\s*(\d{1,4})\)?$", re.IGNORECASE)
_NEWER = re.compile(
    r"^(?:[\s_.-]*\(?(?:copy|kopie|copie|copia|final|new|fixed|done|solution|submission|v?\d{1,4})\)?)+$",
    re.IGNORECASE,
)
_OLDER = re.compile(r"^[\s_.-]*\(?(?:old|bak|backup|orig|original|wip|draft)\)?[\s_.-]*\d*$", re.I)
_ASIDE = {
    "old", "backup", "backups", "bak", "archive", "previous", "template", "starter", "original",
    "student_template", "tests", "trash", "wip",
}  # fmt: skip

Rank = tuple[int, ...]


def get_python_stem(name: str) -> str:
    """Return a Python file's name without its ending, or nothing when it is none."""
    found = _PYTHON.fullmatch(name)
    return found["stem"] if found else ""


def is_test(name: str) -> bool:
    """Tell whether a file is a test or a setting of pytest rather than an answer."""
    folded = name.casefold()
    return folded.startswith("test_") or folded in ("conftest.py", "comparison.py", "setup.py")


def rank_name(name: str, wanted: str) -> Rank | None:
    """Return how well a name means the wanted file, small is better, or None when it does not."""
    if name == wanted:
        return (0,)
    stem, goal = get_python_stem(name), get_python_stem(wanted)
    if not stem:
        return None
    if stem.casefold() == goal.casefold():
        return (1,) if name.casefold() == wanted.casefold() else (2,)
    rest = _COPY_OF.sub("", stem)
    if rest.casefold() == goal.casefold():
        return (4,)
    if rest.casefold().startswith(goal.casefold()):
        tail = rest[len(goal) :]
        number = _NUMBER.match(tail)
        if number:
            return (3, -int(number[1]))  # of (1) and (2), the second is the later one
        if _NEWER.match(tail):
            return (4,)
        if _OLDER.match(tail):
            return (6,)
    if re.sub(r"[\W_]", "", stem).casefold() == re.sub(r"[\W_]", "", goal).casefold():
        return (5,)
    return None


def is_aside(folders: Sequence[str]) -> bool:
    """Tell whether a file lies where files are kept that are not meant."""
    return any(name.casefold() in _ASIDE for name in folders)


def is_version(name: str) -> bool:
    """Tell whether a name says which try it is, as `draft` and `v2` do, rather than whose."""
    if name.isdigit():
        return False  # a student number
    return is_aside([name]) or bool(_NEWER.match(name) or _OLDER.match(name))


def has_exercise(folder: Folder, assignment: Assignment) -> bool:
    """Tell whether an exercise file, under whatever name, lies right in a folder."""
    return any(
        rank_name(file.name, wanted) is not None
        for file in folder.files
        for wanted in assignment.files
    )
