"""Finds the submissions of a class, or the one submission, in what was given."""

from pathlib import Path

from autograder.assignment import Assignment
from autograder.errors import NothingToGrade
from autograder.intake.archive import read_archive
from autograder.intake.disk import LINK, make_file, read_folder
from autograder.intake.file_names import get_python_stem, rank_name
from autograder.intake.identity import assign_ids, make_safe, name_student
from autograder.intake.layouts import Candidate, read_class
from autograder.intake.matching import pick_files
from autograder.intake.submission import Intake, LeftOut, Submission
from autograder.intake.tree import Folder, Refused, is_junk, walk
from autograder.plaintext import clean_line

MAX_CLASS_ENTRIES = 200_000


def find_submissions(path: Path, assignment: Assignment) -> Intake:
    """Find what there is to grade: a class in a folder or archive, or a single submission.

    Every student that is found has a submission; one with nothing usable says why in
    `ungradable`.

    Raises:
        NothingToGrade: no such path, nothing of a submission in it, or not readable.
    """
    candidates, left_out = _find_candidates(path, assignment)
    if not candidates:
        raise NothingToGrade(
            f"{path} holds no submissions. Give a folder with one folder, zip, .py or .ipynb"
            " per student."
        )
    ids = assign_ids([candidate.name for candidate in candidates])
    submissions = [
        _make_submission(candidate, student, assignment)
        for candidate, student in zip(candidates, ids, strict=True)
    ]
    submissions.sort(key=lambda submission: submission.student)
    return Intake(submissions, left_out)


def _make_submission(candidate: Candidate, student: str, assignment: Assignment) -> Submission:
    picked = pick_files(candidate.content, assignment)
    if student != make_safe(candidate.name):
        picked.notes.append(f"more than one submission is called {student.rpartition('-')[0]}")
    return Submission(
        student=student,
        original=clean_line(candidate.name, 500),
        origin=candidate.origin,
        files=picked.files,
        notes=picked.notes,
        late=candidate.late,
        ungradable=picked.ungradable,
    )


def _find_candidates(path: Path, assignment: Assignment) -> tuple[list[Candidate], list[LeftOut]]:
    path = path.resolve()  # the path that was given may be a link: it is staff's word
    if path.is_dir():
        folder = _read_class_folder(path)
    elif not path.exists():
        raise NothingToGrade(f"{path} does not exist. Give the folder with the submissions.")
    elif path.suffix.casefold() == ".zip":
        try:
            folder = read_archive(path, path.stem, max_entries=MAX_CLASS_ENTRIES)
        except Refused as refusal:
            raise NothingToGrade(f"{path} {refusal}.") from refusal
    elif get_python_stem(path.name) or path.suffix.casefold() == ".ipynb":
        content = Folder(path.name, files=[make_file(path)])
        return [Candidate(name_student(path.name), path.name, content)], []
    else:
        raise NothingToGrade(
            f"{path} is a file, but no submission. Give a folder, a .zip, a .py or a .ipynb."
        )
    folder = _unwrap(folder, assignment)
    if path.is_dir():
        if _is_single(folder, assignment):
            return [Candidate(path.name, clean_line(path.name), folder)], []
        return read_class(folder, assignment)
    wrapped = folder.folders[0] if len(folder.folders) == 1 and not folder.files else folder
    if _is_single(wrapped, assignment):
        return [Candidate(path.stem, clean_line(path.name), folder)], []
    return read_class(folder, assignment)


def _read_class_folder(path: Path) -> Folder:
    """List a class, every student's folder with limits of its own."""
    folder = Folder(path.name)
    try:
        entries = sorted(path.iterdir())
    except OSError as error:
        raise NothingToGrade(f"{path} cannot be read: {error.strerror}.") from error
    for entry in entries:
        if is_junk(entry.name):
            continue
        try:
            if entry.is_symlink():
                raise Refused(LINK)
            if entry.is_dir():
                folder.folders.append(read_folder(entry))
            else:
                folder.files.append(make_file(entry))
        except Refused as refusal:
            folder.refused.append((entry.name, str(refusal)))
    return folder


def _has_exercise(folder: Folder, assignment: Assignment) -> bool:
    return any(
        rank_name(file.name, wanted) is not None
        for file in folder.files
        for wanted in assignment.files
    )


def _is_single(folder: Folder, assignment: Assignment) -> bool:
    """Tell a submission from a class: its exercise files lie at its top, and no two below."""
    students = [inner for inner in folder.folders if _has_exercise(inner, assignment)]
    return _has_exercise(folder, assignment) and len(students) < 2


def _unwrap(folder: Folder, assignment: Assignment) -> Folder:
    """Step through folders that hold nothing but one folder, down to where a class lies."""
    while len(folder.folders) == 1 and not folder.files and not folder.refused:
        inner = folder.folders[0]
        students = sum(any(True for _ in walk(student)) for student in inner.folders)
        students += sum(file.name.casefold().endswith(".zip") for file in inner.files)
        if _has_exercise(inner, assignment) or students < 2:
            break
        folder = inner
    return folder
