"""What is raised when the kit or the call, and not a student, is at fault.

KitError
 ├── UnknownAssignment     no assignment of that name
 ├── BrokenAssignment      an assignment is declared wrongly or lacks a file
 ├── UnknownStudent        `--only` names nobody in the class
 ├── NothingToGrade        the submissions cannot be read, or there are none
 └── UnwritableFolder      the files of one student cannot be written; those of others can
"""

import difflib
from collections.abc import Iterable


class KitError(Exception):
    """The kit or the call is at fault.

    The message says in one or two lines what is wrong and what to do about it. It is
    shown as it is, without a traceback, and the command ends with exit code 2.
    """


class UnknownAssignment(KitError):
    """There is no assignment of that name."""


class BrokenAssignment(KitError):
    """An assignment.toml cannot be used, or a file that it promises is missing."""


class UnknownStudent(KitError):
    """A student was asked for who is not in the class."""


class NothingToGrade(KitError):
    """What was given as submissions is not there, not readable or empty."""


class UnwritableFolder(KitError):
    """The files of one student cannot be written; the class goes on without them."""


def suggest_nearest(wrong: str, known: Iterable[str]) -> str:
    """Return the end of a message: the nearest known names, or all when few, or nothing.

    >>> suggest_nearest("atention", ["attention", "recurrence"])
    'did you mean attention?'
    """
    names = sorted(known)
    folded = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(wrong.casefold(), folded, n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(folded[name] for name in near)}?"
    if not names:
        return "there are none."
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"there are: {listed}."
