"""The gallery of an assignment as a class: known submissions with known verdicts.

A case holds only what differs from the reference: its files lie over the reference's,
and the names in `remove` of its case.toml are absent.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path

from autograder.assignment import Assignment
from autograder.errors import BrokenAssignment, NothingToGrade
from autograder.intake import Intake, Submission
from autograder.intake.disk import make_file, read_folder
from autograder.intake.matching import pick_files
from autograder.intake.tree import Folder

KINDS = ("right", "wrong", "hostile")
CASE = "case.toml"


def find_gallery(assignment: Assignment) -> Intake:
    """Return the reference, the bare template and every case, as `<kind>-<case>`.

    Raises:
        BrokenAssignment: a case.toml cannot be read.
        NothingToGrade: the assignment has no gallery.
    """
    reference = read_reference(assignment)
    submissions = [_make("reference", reference, assignment.solution_dir, assignment)]
    if assignment.template_dir.is_dir():
        folder = read_folder(assignment.template_dir)
        submissions.append(_make("template", folder, assignment.template_dir, assignment))
    for case in list_cases(assignment):
        folder = read_case(case, reference)
        submissions.append(_make(f"{case.parent.name}-{case.name}", folder, case, assignment))
    if len(submissions) < 2:
        raise NothingToGrade(
            f"{assignment.id} has no gallery. Name the folder of your submissions:"
            f" autograder grade {assignment.id} submissions/"
        )
    return Intake(sorted(submissions, key=lambda submission: submission.student), [])


def list_cases(assignment: Assignment) -> Iterator[Path]:
    """Yield the folders of all cases, sorted."""
    for kind in KINDS:
        yield from sorted(path.parent for path in (assignment.gallery_dir / kind).glob(f"*/{CASE}"))


def read_reference(assignment: Assignment) -> Folder:
    """Return the reference as a submission."""
    files = [make_file(assignment.solution_dir / name) for name in assignment.files]
    return Folder("reference", files=files)


def read_case(case: Path, reference: Folder) -> Folder:
    """Return a case as a submission."""
    try:
        described = tomllib.loads((case / CASE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BrokenAssignment(f"{case / CASE} cannot be read: {error}") from error
    removed = described.get("remove", [])
    if not isinstance(removed, list) or not all(isinstance(name, str) for name in removed):
        raise BrokenAssignment(f"{case / CASE}: remove is a list of file names.")
    folder = read_folder(case)
    own = [file for file in folder.files if file.name != CASE]
    hidden = {*removed, *(file.name for file in own), *(name for name, _ in folder.refused)}
    below = [file for file in reference.files if file.name not in hidden]
    return Folder(case.name, folder.folders, [*own, *below], folder.refused)


def _make(student: str, folder: Folder, origin: Path, assignment: Assignment) -> Submission:
    picked = pick_files(folder, assignment)
    return Submission(
        student=student,
        original=student,
        origin=origin.relative_to(assignment.root).as_posix(),
        files=picked.files,
        notes=picked.notes,
        ungradable=picked.ungradable,
    )
