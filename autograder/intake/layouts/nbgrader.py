"""nbgrader: `submitted/<student>/<assignment>/...` with a `timestamp.txt` in it."""

import re

from autograder.assignment import Assignment
from autograder.intake.file_names import has_exercise
from autograder.intake.layouts.candidate import Candidate, Found, Identity
from autograder.intake.submission import LeftOut
from autograder.intake.tree import Folder, Refused
from autograder.lateness import read_time
from autograder.plaintext import clean_line

TIMESTAMP = "timestamp.txt"


def fits(folder: Folder) -> bool:
    """Tell whether most students' folders hold an assignment's folder with a time in it."""
    marked = [student for student in folder.folders if any(map(_has_time, student.folders))]
    return bool(marked) and 2 * len(marked) >= len(folder.folders)


def read_tree(folder: Folder, assignment: Assignment) -> Found:
    """Read a tree of students, each with the folders of their assignments."""
    found = Found("nbgrader")
    for student in folder.folders:
        candidate = Candidate(
            student.name,
            clean_line(student.name),
            Folder(student.name, refused=list(student.refused)),
            Identity(login=student.name),
        )
        chosen = _choose(student, assignment)
        if chosen is None:
            which = " and ".join(sorted(inner.name for inner in student.folders)[:5]) or "nothing"
            reason = f"nothing for {assignment.id}: found {clean_line(which)}"
            found.left_out.append(LeftOut(clean_line(student.name), reason))
            continue
        found.candidates.append(candidate)
        candidate.origin = clean_line(f"{student.name}/{chosen.name}")
        files = [file for file in chosen.files if file.name != TIMESTAMP]
        candidate.content = Folder(chosen.name, chosen.folders, files, chosen.refused)
        for file in chosen.files:
            if file.name == TIMESTAMP:
                try:
                    candidate.submitted = read_time(file.read(200).decode("utf-8", "replace"))
                except Refused:
                    continue
    found.left_out += [
        LeftOut(clean_line(file.name), "not a student's folder") for file in folder.files
    ]
    found.left_out += [LeftOut(clean_line(name), reason) for name, reason in folder.refused]
    return found


def _has_time(folder: Folder) -> bool:
    return any(file.name == TIMESTAMP for file in folder.files)


def _choose(student: Folder, assignment: Assignment) -> Folder | None:
    """Return the folder of this assignment: by its name, else the only one that looks like it."""
    wanted = _fold(assignment.id)
    named = [inner for inner in student.folders if _fold(inner.name) == wanted]
    if named:
        return named[0]
    fit = [inner for inner in student.folders if has_exercise(inner, assignment)]
    choices = fit or student.folders
    return choices[0] if len(choices) == 1 else None


def _fold(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()
