"""nbgrader: `nbgrader autograde` with verdicts from the sandbox.

Two lines of nbgrader_config.py switch it on:

    from autograder.platforms import nbgrader as sandbox
    sandbox.use(c)

No cell is executed. The student's cells are read, judged in the sandbox, and every grade cell is
given an output that nbgrader scores as it scores any: an error for no points, none for all.
"""

from __future__ import annotations

import json
from typing import Any

from nbgrader import utils
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearHiddenTests,
    ClearOutput,
    DeduplicateIds,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)
from traitlets import Unicode

from autograder.cells import name_cells
from autograder.errors import KitError
from autograder.platforms.judging import judge_notebook, read_declared, say
from autograder.results import Result, TestResult

RED = "\x1b[31m{}\x1b[0m"


def use(config: Any) -> None:
    """Switch the sandbox on in an nbgrader configuration."""
    config.Autograde.sanitize_preprocessors = [
        ClearOutput,
        DeduplicateIds,
        OverwriteKernelspec,
        RestoreCells,
        CheckCellMetadata,
    ]
    config.Autograde.autograde_preprocessors = [
        Verdicts,
        SaveAutoGrades,
        AssignLatePenalties,
        CheckCellMetadata,
    ]


class RestoreCells(OverwriteCells):  # type: ignore[misc]
    """nbgrader's own, for whatever a student has deleted, copied or brought from elsewhere.

    Grade cells that are missing are put back at the end. A copy of a cell, and a cell of another
    assignment, is the student's own.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        self.add_missing_cells = True
        return super().preprocess(nb, resources)  # type: ignore[no-any-return]

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        if "nbgrader" in cell.metadata and "grade_id" not in cell.metadata.nbgrader:
            del cell.metadata["nbgrader"]
        return cell, resources

    def add_missing_grade_cells(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        source = self.gradebook.find_notebook(self.notebook_id, self.assignment_id)
        solutions = {cell.name for cell in source.solution_cells}
        places = {
            cell.metadata.nbgrader["grade_id"]: place
            for place, cell in enumerate(nb.cells)
            if utils.is_grade(cell)
        }
        maxima = {cell.name: cell.max_score for cell in source.grade_cells}
        for cell in source.source_cells:
            if cell.name in maxima and cell.name not in places:
                self.log.warning("Missing grade cell %s: put back at the end", cell.name)
                is_solution = cell.name in solutions
                nb.cells.append(self.missing_cell_transform(cell, maxima[cell.name], is_solution))
        return nb, resources


class Verdicts(NbGraderPreprocessor):  # type: ignore[misc]
    """Judges the student's cells in the sandbox, in place of executing the notebook."""

    require_isolation = Unicode(
        "", help="The weakest isolation to accept: full, process, or empty for any."
    ).tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        assignment = read_declared(resources["nbgrader"]["assignment"])
        student = resources["nbgrader"]["student"]
        own = [cell for cell in nb.cells if not utils.is_grade(cell)]
        content = json.dumps({**nb, "cells": own}).encode()
        result = judge_notebook(assignment, student, content, least=self.require_isolation)
        verdicts = dict(name_cells(result.tests))
        graded = [cell for cell in nb.cells if utils.is_grade(cell)]
        unknown = [c for c in graded if c.cell_type == "code" and not self._fits(c, verdicts)]
        missing = set(verdicts) - {cell.metadata.nbgrader["grade_id"] for cell in graded}
        if unknown or missing:
            raise KitError(
                f"the course's grade cells are not those of {assignment.id} as it is now:"
                " build the course anew, and generate the assignment from it."
            )
        for cell in graded:
            test = verdicts.get(cell.metadata.nbgrader["grade_id"])
            if test is not None:
                cell.outputs = [_make_output(test, result)]
        nb.metadata["autograder"] = {"isolation": result.isolation, "digest": result.digest}
        # What is hidden stays so: feedback and formgrader show this notebook.
        return ClearHiddenTests(parent=self).preprocess(nb, resources)  # type: ignore[no-any-return]

    @staticmethod
    def _fits(cell: Any, verdicts: dict[str, TestResult]) -> bool:
        test = verdicts.get(cell.metadata.nbgrader["grade_id"])
        points = float(cell.metadata.nbgrader["points"])
        return test is not None and float(test.max_points) == points and test.title in cell.source


def _make_output(test: TestResult, result: Result) -> Any:
    from nbformat.v4 import new_output

    lines = say(test, result)
    if test.points == test.max_points:
        text = "\n".join(lines) + "\n"
        return new_output("stream", name="stdout", text=text)  # type: ignore[no-untyped-call]
    return new_output(  # type: ignore[no-untyped-call]
        "error", ename=test.verdict, evalue=lines[0], traceback=[RED.format(lines[0]), *lines[1:]]
    )
