"""What a class hands in as notebooks: known work, typed into whatever notebook was handed out."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

from autograder.assignment import load
from autograder.gallery import find_gallery
from autograder.release.notebook import cell_source

ATTENTION = load("attention")
GALLERY = {
    submission.student: submission.files for submission in find_gallery(ATTENTION).submissions
}
HONEST = {
    "reference": "reference",
    "halves": "wrong-pe-halves",
    "both": "wrong-two-scale-and-halves",
    "template": "template",
}
HOSTILE = "hostile-exits_zero_in_forward"

# Makes every cell that comes after it, those of tests included, do nothing.
INPUT_HOOK = """\
def forget(lines):
    return ["pass\\n"]
get_ipython().input_transformers_cleanup.append(forget)"""
# Makes every test of otter's pass.
RUN_METHOD = """\
from otter.test_files.abstract_test import TestCaseResult
from otter.test_files.exception_test import ExceptionTestFile
def run(self, env):
    self.test_case_results = [TestCaseResult(case, "fine", True) for case in self.test_cases]
ExceptionTestFile.run = run"""
# Ends the process that runs the notebook; nothing of it is a definition.
EXIT = "import os\nos._exit(0)"


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def write(notebook: Any, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


def fill(handed_out: Any, files: Mapping[str, bytes]) -> Any:
    """Type files into the cells of a notebook that hold their stubs."""
    filled = copy.deepcopy(handed_out)
    for exercise in ATTENTION.exercises:
        (cell,) = [
            cell
            for cell in filled.cells
            if cell.cell_type == "code"
            and "raise NotImplementedError(" in cell.source
            and f" {exercise.names[0]}(" in cell.source.replace("class ", " ")
            and any(line.startswith(("class ", "def ")) for line in cell.source.splitlines())
        ]
        if exercise.file in files:
            cell.source = cell_source(files[exercise.file].decode(), ATTENTION)
    return filled


def with_first_cell(notebook: Any, source: str) -> Any:
    changed = copy.deepcopy(notebook)
    changed.cells.insert(0, nbformat.v4.new_code_cell(source))
    return changed


def hand_in(handed_out: Any) -> dict[str, Any]:
    """The notebooks of honest students, by student."""
    return {student: fill(handed_out, GALLERY[case]) for student, case in HONEST.items()}
