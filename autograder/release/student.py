"""The student's bundle, student.zip: all that is needed to work offline, in one folder."""

from __future__ import annotations

from pathlib import Path

from autograder.assignment import Assignment
from autograder.release.leaks import refuse_leaks
from autograder.release.notebook import student_notebook
from autograder.release.zipping import write_zip
from autograder.template import build_template


def build(declared: Assignment, out: Path) -> list[Path]:
    """Writes `out/student.zip`, with a folder named like the assignment in it.

    Raises:
        KitError: a source cannot be read, or something of the staff's would leak.
    """
    files = bundle(declared)
    return [
        write_zip(out / "student.zip", {f"{declared.id}/{name}": files[name] for name in files})
    ]


def bundle(declared: Assignment) -> dict[str, bytes]:
    """All that a student gets, name with slashes to content: the template, and the notebook.

    Raises:
        KitError: a source cannot be read, or something of the staff's would leak.
    """
    files = {name: text.encode() for name, text in build_template(declared).items()}
    files[f"{declared.id}.ipynb"] = student_notebook(declared)
    refuse_leaks(declared, files)
    return files
