"""Finds the submissions of a class, or the one submission, in what was given."""

from collections import Counter
from pathlib import Path

from autograder import lateness
from autograder.assignment import Assignment
from autograder.errors import NothingToGrade
from autograder.intake.archive import read_archive
from autograder.intake.disk import LINK, make_file, read_folder
from autograder.intake.enrolment import Match, enrol, merge_attempts
from autograder.intake.file_names import get_python_stem, has_exercise
from autograder.intake.identity import assign_ids, fold, make_safe, name_student
from autograder.intake.layouts import (
    MAX_CLASS_ENTRIES,
    Candidate,
    Found,
    Identity,
    is_class,
    read_class,
)
from autograder.intake.matching import pick_files
from autograder.intake.starter import is_starter, read_starter, remark_on_copies
from autograder.intake.submission import Intake, Submission
from autograder.intake.tree import Folder, Refused, is_junk, walk
from autograder.late_students import check_extensions, describe_group
from autograder.plaintext import clean_line
from autograder.roster import Roster

_LEFTOVERS = {".git", ".ipynb_checkpoints", "__macosx", "__pycache__"}  # that need no mention


def find_submissions(path: Path, assignment: Assignment, roster: Roster | None = None) -> Intake:
    """Find what there is to grade: a class in a folder or archive, or a single submission.

    Every student that is found has a submission; one with nothing usable says why in
    `ungradable`. Who is on the roster and has none is in `absent`.

    Raises:
        NothingToGrade: no such path, nothing of a submission in it, or not readable.
        KitError: an extension on the roster cannot be read.
    """
    roster = roster or Roster()
    check_extensions(roster, assignment.deadline)
    try:
        found = _find_candidates(path.resolve(), assignment, roster)
    except Refused as refusal:
        raise NothingToGrade(f"{path} {refusal}.") from refusal
    if not found.candidates:
        raise NothingToGrade(
            f"{path} holds no submissions. Give a folder with one folder, zip, .py or .ipynb"
            " per student, or an archive that an LMS exports."
        )
    matches = enrol(merge_attempts(found.candidates), roster)
    names = [match.name for match in matches]
    shared = Counter(fold(make_safe(name)) for name in names)
    starter = read_starter(assignment)
    submissions = []
    known = {place for place, match in enumerate(matches) if match.members}
    for match, student in zip(matches, assign_ids(names, known), strict=True):
        is_shared = shared[fold(make_safe(match.name))] > 1
        submissions.append(_make_submission(match, student, assignment, starter, is_shared))
    submissions.sort(key=lambda submission: submission.student)
    remark_on_copies(submissions, starter)
    covered = {member for submission in submissions for member in submission.members}
    return Intake(
        submissions,
        found.left_out,
        found.layout,
        absent=[student.id for student in roster.students if student.id not in covered],
        roster=roster.describe(),
        opened=found.opened,
    )


def _make_submission(
    match: Match,
    student: str,
    assignment: Assignment,
    starter: dict[str, str],
    is_shared: bool,
) -> Submission:
    candidate = match.candidate
    picked = pick_files(candidate.content, assignment)
    if is_shared:
        called = clean_line(make_safe(match.name))
        picked.notes.append(f"more than one submission is called {called}, or nearly so")
    for name, data in picked.files.items():
        if is_starter(name, data, starter):
            picked.notes.append(f"{name} is as it was handed out")
    submitted = candidate.submitted
    for member in match.members:
        if submitted is None and member.submitted:
            submitted = lateness.read_time(member.submitted)
            if submitted is None:
                said = clean_line(member.submitted, 60)
                candidate.remarks.append(f"the time on the roster cannot be read: {said}")
    return Submission(
        student=student,
        original=clean_line(candidate.name, 500),
        origin=candidate.origin,
        files=picked.files,
        notes=picked.notes,
        remarks=[clean_line(remark, 500) for remark in (*candidate.remarks, *picked.remarks)],
        late=describe_group(
            assignment.deadline, submitted, match.members, is_marked_late=candidate.is_marked_late
        ),
        ungradable=picked.ungradable,
        members=[member.id for member in match.members],
        matched=match.how,
        certainty=match.certainty,
        submitted=lateness.show_time(submitted),
        is_marked_late=candidate.is_marked_late,
        attempts=candidate.attempts,
        canvas_id=candidate.identity.canvas_id,
        moodle_id=candidate.identity.moodle_id,
        feedback_name=candidate.feedback_name,
    )


def _find_candidates(path: Path, assignment: Assignment, roster: Roster) -> Found:
    if path.is_dir():
        folder = _read_class_folder(path)
    elif not path.exists():
        raise NothingToGrade(f"{path} does not exist. Give the folder with the submissions.")
    elif path.suffix.casefold() == ".zip":
        folder = read_archive(path, path.stem, max_entries=MAX_CLASS_ENTRIES)
    elif get_python_stem(path.name) or path.suffix.casefold() == ".ipynb":
        return _make_single(path, Folder(path.name, files=[make_file(path)]))
    else:
        raise NothingToGrade(
            f"{path} is a file, but no submission. Give a folder, a .zip, a .py or a .ipynb."
        )
    folder = _unwrap(folder, assignment)
    if is_class(folder, assignment):
        return read_class(folder, assignment, roster)
    inner = folder
    if not path.is_dir() and len(folder.folders) == 1 and not folder.files:
        inner = folder.folders[0]
    if _is_single(inner, assignment):
        return _make_single(path, folder)
    return read_class(folder, assignment, roster)


def _make_single(path: Path, content: Folder) -> Found:
    name = path.name if path.is_dir() else name_student(path.name)
    return Found("single", [Candidate(name, clean_line(path.name), content, Identity(login=name))])


def _read_class_folder(path: Path) -> Folder:
    """List a class, every student's folder with limits of its own."""
    folder = Folder(path.name, disk=path)
    try:
        entries = sorted(path.iterdir())
    except OSError as error:
        raise NothingToGrade(f"{path} cannot be read: {error.strerror}.") from error
    for entry in entries:
        if is_junk(entry.name):
            if entry.is_dir() and entry.name.casefold() not in _LEFTOVERS:
                folder.refused.append((entry.name, "is named like what tools leave behind"))
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


def _is_single(folder: Folder, assignment: Assignment) -> bool:
    """Tell a submission from a class: its exercise files lie at its top, and no two below."""
    students = [inner for inner in folder.folders if has_exercise(inner, assignment)]
    return has_exercise(folder, assignment) and len(students) < 2


def _unwrap(folder: Folder, assignment: Assignment) -> Folder:
    """Step through folders that hold nothing but one folder, down to where a class lies."""
    while len(folder.folders) == 1 and not folder.files and not folder.refused:
        if is_class(folder, assignment):
            break
        inner = folder.folders[0]
        students = sum(any(True for _ in walk(student)) for student in inner.folders)
        students += sum(file.name.casefold().endswith(".zip") for file in inner.files)
        if not is_class(inner, assignment) and (has_exercise(inner, assignment) or students < 2):
            break
        folder = inner
    return folder
