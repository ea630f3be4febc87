"""Clones of a forge's repositories: `<assignment>-<user>/` with `.git` in it.

The time of a submission is that of its newest commit. It comes from the student's own machine;
where that matters, a roster with a column `submitted` says better.
"""

from autograder.intake.commits import read_commit_time
from autograder.intake.layouts.candidate import Candidate, Found, Identity
from autograder.intake.submission import LeftOut
from autograder.intake.tree import Folder
from autograder.plaintext import clean_line
from autograder.roster import Roster


def fits(folder: Folder) -> bool:
    """Tell whether most of the folders are clones."""
    clones = [inner for inner in folder.folders if _is_clone(inner)]
    return bool(clones) and 2 * len(clones) > len(folder.folders) + len(folder.files)


def read_clones(folder: Folder, roster: Roster) -> Found:
    """Read a folder of clones."""
    found = Found("git")
    prefix = find_prefix([inner.name for inner in folder.folders if _is_clone(inner)], roster)
    for inner in folder.folders:
        name = inner.name.removeprefix(prefix) if _is_clone(inner) else inner.name
        candidate = Candidate(name, clean_line(inner.name), inner, Identity(login=name))
        if _is_clone(inner) and inner.disk is not None:
            candidate.submitted = read_commit_time(inner.disk)
            if candidate.submitted is None:
                candidate.remarks.append("has no commit whose time can be read")
        found.candidates.append(candidate)
    reason = "not a clone of a student's repository"
    found.left_out += [LeftOut(clean_line(file.name), reason) for file in folder.files]
    found.left_out += [LeftOut(clean_line(name), why) for name, why in folder.refused]
    return found


def find_prefix(names: list[str], roster: Roster) -> str:
    """Return what all names begin with, up to a dash; where there is a choice, the roster's.

    >>> find_prefix(["hw3-attention-ada", "hw3-attention-adam"], Roster())
    'hw3-attention-'
    """
    if not names:
        return ""
    shortest, longest = min(names), max(names)
    common = 0
    while common < len(shortest) and shortest[common] == longest[common]:
        common += 1
    dashes = [at + 1 for at, char in enumerate(shortest[:common]) if char == "-"]
    dashes = [at for at in dashes if all(len(name) > at for name in names)]
    known = {key.casefold() for s in roster.students for key in (s.login, s.id, s.email) if key}

    def count(at: int) -> int:
        return sum(name[at:].casefold() in known for name in names)

    best = max(dashes, key=lambda at: (count(at), at), default=0)
    return shortest[:best]


def _is_clone(folder: Folder) -> bool:
    if folder.disk is None:
        return False
    git = folder.disk / ".git"
    return git.is_dir() and not git.is_symlink()
