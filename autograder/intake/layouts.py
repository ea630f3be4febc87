"""How a class lies in a folder. A new layout is a function here and its name in LAYOUTS."""

from collections.abc import Callable
from dataclasses import dataclass

from autograder.assignment import Assignment
from autograder.intake.file_names import get_python_stem, is_test, rank_name
from autograder.intake.identity import name_student
from autograder.intake.submission import LeftOut
from autograder.intake.tree import Folder
from autograder.plaintext import clean_line

_SUBMITTED = (".zip", ".ipynb", ".ipynb.txt", ".ipynb.json")
_UNUSABLE = (
    ".pdf", ".doc", ".docx", ".odt", ".pages", ".rtf", ".html", ".htm", ".png", ".jpg", ".jpeg",
    ".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz",
)  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """One student as a layout sees them: a name, and a folder of what they handed in."""

    name: str  # from where the files lie, never from inside a file
    origin: str
    content: Folder
    late: str = ""


Found = tuple[list[Candidate], list[LeftOut]]
Layout = Callable[[Folder, Assignment], Found | None]


def read_plain(folder: Folder, assignment: Assignment) -> Found:
    """One folder, zip, .py or .ipynb per student. Fits always, so it is tried last."""
    candidates: list[Candidate] = []
    left_out: list[LeftOut] = []
    for inner in folder.folders:
        candidates.append(Candidate(inner.name, clean_line(inner.name), inner))
    for file in folder.files:
        shown, name = clean_line(file.name), file.name.casefold()
        is_stray = any(rank_name(file.name, wanted) is not None for wanted in assignment.files)
        if is_stray:
            left_out.append(LeftOut(shown, "an exercise file that lies in no student's folder"))
        elif (get_python_stem(file.name) and not is_test(file.name)) or name.endswith(
            (*_SUBMITTED, *_UNUSABLE)
        ):
            content = Folder(file.name, files=[file])
            candidates.append(Candidate(name_student(file.name), shown, content))
        else:
            left_out.append(LeftOut(shown, "not a folder, zip, .py or .ipynb of a student"))
    for raw, reason in folder.refused:
        if reason.startswith(("is a symbolic link", "cannot be read")):  # somebody's work
            content = Folder(raw, refused=[(raw, reason)])
            candidates.append(Candidate(name_student(raw), clean_line(raw), content))
        else:
            left_out.append(LeftOut(clean_line(raw), reason))
    return candidates, left_out


LAYOUTS: list[Layout] = [read_plain]


def read_class(folder: Folder, assignment: Assignment) -> Found:
    """Read a class with the first layout that fits."""
    for layout in LAYOUTS:
        found = layout(folder, assignment)
        if found is not None:
            return found
    return [], []
