"""One folder, zip, .py or .ipynb per student, as an instructor lays them down by hand."""

from collections import Counter
from collections.abc import Iterator

from autograder.assignment import Assignment
from autograder.intake.file_names import (
    get_python_stem,
    has_exercise,
    is_test,
    is_version,
    rank_name,
)
from autograder.intake.identity import name_student
from autograder.intake.layouts.candidate import Candidate, Identity
from autograder.intake.matching import pick_files
from autograder.intake.starter import is_starter, read_starter
from autograder.intake.submission import LeftOut
from autograder.intake.tree import File, Folder
from autograder.plaintext import clean_line

_SUBMITTED = (".zip", ".ipynb", ".ipynb.txt", ".ipynb.json")
_UNUSABLE = (
    ".pdf", ".doc", ".docx", ".odt", ".pages", ".rtf", ".html", ".htm", ".png", ".jpg", ".jpeg",
    ".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz",
)  # fmt: skip
_SEVERAL = 2  # folders or archives with the same exercise in them are of several students
_SEVERAL_FILES = 3  # so are as many bare files; a program and a notebook may be one student's


def fits(folder: Folder, assignment: Assignment) -> bool:
    """Tell whether an archive holds several students rather than one student's work.

    Several have written the same exercise then. One student's drafts of it do not count.
    """
    if has_exercise(folder, assignment):
        return False
    starter = read_starter(assignment)
    written: Counter[tuple[str, int]] = Counter()
    entries: list[tuple[Candidate | LeftOut, int]] = []
    entries += [(read_folder(inner), _SEVERAL) for inner in folder.folders]
    for file in folder.files:
        is_archive = file.name.casefold().endswith(".zip")
        entries.append((read_file(file, assignment), _SEVERAL if is_archive else _SEVERAL_FILES))
    for one, enough in entries:
        if isinstance(one, LeftOut) or is_version(one.name):
            continue
        for name, data in pick_files(one.content, assignment).files.items():
            written[name, enough] += not is_starter(name, data, starter)
            if written[name, enough] == enough:
                return True
    return False


def read_folder(folder: Folder) -> Candidate:
    """Take a folder for a student's."""
    return Candidate(folder.name, clean_line(folder.name), folder, Identity(login=folder.name))


def read_file(file: File, assignment: Assignment) -> Candidate | LeftOut:
    """Take a file for a student's, if it can be one."""
    shown, name = clean_line(file.name), file.name.casefold()
    if any(rank_name(file.name, wanted) is not None for wanted in assignment.files):
        return LeftOut(shown, "an exercise file that lies in no student's folder")
    is_python = bool(get_python_stem(file.name)) and not is_test(file.name)
    if is_python or name.endswith((*_SUBMITTED, *_UNUSABLE)):
        student = name_student(file.name)
        content = Folder(file.name, files=[file])
        return Candidate(student, shown, content, Identity(login=student))
    return LeftOut(shown, "not a folder, zip, .py or .ipynb of a student")


def read_refused(folder: Folder) -> Iterator[Candidate | LeftOut]:
    """Yield what was not read: somebody's work, where it may be, and the rest as left out."""
    for raw, reason in folder.refused:
        if reason.startswith(("is a symbolic link", "cannot be read")):
            student = name_student(raw)
            content = Folder(raw, refused=[(raw, reason)])
            yield Candidate(student, clean_line(raw), content, Identity(login=student))
        else:
            yield LeftOut(clean_line(raw), reason)
