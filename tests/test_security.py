"""Is SECURITY.md true? Every class is met, and what is said to show it exists and does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import hostile_uploads
import msgspec
import pytest

from autograder import assignment as assignments
from autograder import pool
from tests import test_hostile
from tests.test_hostile import CASES, LIMITS, Run, read_case

TESTS = Path(__file__).resolve().parent
PAGE = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")
CLASSES = [f"A{number}" for number in range(1, 41)]


@dataclass(frozen=True)
class Row:
    """A class of attacks, whether it is met at level `process`, and what shows that."""

    id: str
    at_process: str
    shown_by: tuple[str, ...]


def read_rows() -> Iterator[Row]:
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if re.fullmatch(r"A\d+", cells[0]):
            yield Row(cells[0], cells[3], tuple(re.findall(r"`([^`]+)`", cells[4])))


ROWS = list(read_rows())
HELD = sorted({n for row in ROWS if row.at_process == "holds" for n in row.shown_by if n in CASES})


def test_every_class_has_a_row() -> None:
    assert [row.id for row in ROWS] == CLASSES
    assert {row.at_process for row in ROWS} == {"holds", "in part", "open"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_what_shows_it_exists_and_is_about_it(row: Row) -> None:
    assert row.shown_by
    for name in row.shown_by:
        if "::" in name:
            file, test = name.split("::")
            tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
            assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        elif name not in hostile_uploads.UPLOADS:
            assert name in CASES, f"{name} is no case and no upload"
            assert row.id in read_case(name).attacks, f"{name} does not say that it is {row.id}"


def test_other_names_on_the_page_exist() -> None:
    for path in re.findall(r"`((?:tests|autograder|solutions)/[^`]+)`", PAGE):
        assert (TESTS.parent / path).exists(), path


@pytest.fixture(scope="module")
def at_process() -> Iterator[Run]:
    """The cases that are said to be met at level `process`, at that level."""
    run = Run(msgspec.structs.replace(assignments.load("attention"), limits=LIMITS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignments, "load", lambda *_: run.assignment)
        judges = pool.start("attention", 2, "process")
        try:
            assert judges.isolation == "process"
            test_hostile.judge_all(run, judges, HELD, is_whole=False)
            yield run
        finally:
            judges.close()


@pytest.mark.parametrize("case", HELD)
def test_it_holds_at_level_process(at_process: Run, case: str) -> None:
    test_hostile.check_points(at_process, case)
    judgement = test_hostile.judgement_of(at_process, case)
    test_hostile.check_words(judgement, case)
    assert "grader_error" not in {test.verdict for test in judgement.tests}


def test_right_submissions_stay_right_at_level_process(at_process: Run) -> None:
    right = [at_process.judgements[f"{when} {n}"] for when in ("right", "late") for n in range(4)]
    assert {sum(test.points for test in judgement.tests) for judgement in right} == {
        at_process.assignment.points
    }
