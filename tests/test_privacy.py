"""Does anything of the hidden tests reach a student?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.assignment import Assignment, load
from autograder.gallery import find_gallery
from autograder.intake import Submission
from autograder.judge import Judge
from autograder.report import make_feedback, render_feedback_html, render_feedback_md
from autograder.results import Result
from autograder.sandbox import Station
from autograder.totals import make_result

ROOT = Path(__file__).resolve().parent.parent
CASES = [
    "wrong-mha-scale-dmodel", "wrong-mha-random", "wrong-mha-noncontiguous-view",
    "wrong-mha-fused-projection", "wrong-pe-learned", "wrong-pe-arguments-swapped",
    "wrong-block-residual", "wrong-block-pe-unsliced", "wrong-two-scale-and-halves",
    "hostile-leaks_inputs_by_type", "hostile-leaks_inputs_by_frame",
    "hostile-leaks_inputs_by_source", "hostile-leaks_inputs_by_syntax_error", "template",
]  # fmt: skip


@pytest.fixture(scope="module")
def assignment() -> Assignment:
    return load("attention")


@pytest.fixture(scope="module")
def judge(assignment: Assignment, warm_station: Station) -> Iterator[Judge]:
    judge = Judge(assignment, warm_station)
    yield judge
    judge.close()


@pytest.fixture(scope="module")
def submissions(assignment: Assignment) -> dict[str, Submission]:
    return {submission.student: submission for submission in find_gallery(assignment).submissions}


@pytest.fixture(scope="module")
def secrets(assignment: Assignment) -> list[str]:
    """Names of hidden tests, and the lines of code and comments of the hidden side."""
    lines: list[str] = []
    for path in assignment.hidden_tests.glob("*.py"):
        lines += path.read_text(encoding="utf-8").splitlines()
    for exercise in assignment.exercises:
        source = (assignment.solution_dir / exercise.file).read_text(encoding="utf-8")
        for part in source.split("# BEGIN SOLUTION")[1:]:
            lines += part.split("# END SOLUTION")[0].splitlines()
    # What the hints and titles say is for students; the rest of a line of some length is not.
    told = re.compile(r"title=|hint=|@pytest")
    return [line.strip() for line in lines if len(line.strip()) > 30 and not told.search(line)]


def render(result: Result, assignment: Assignment) -> str:
    feedback = make_feedback(result, assignment)
    return render_feedback_md(feedback) + render_feedback_html(feedback)


@pytest.mark.parametrize("case", CASES)
def test_feedback_tells_nothing_of_hidden_tests(
    case: str,
    judge: Judge,
    assignment: Assignment,
    submissions: dict[str, Submission],
    secrets: list[str],
) -> None:
    if case not in submissions:
        pytest.skip(f"the gallery has no case {case} any more")
    submission = submissions[case]
    files = {name: data.decode("utf-8") for name, data in submission.files.items()}
    result = make_result(assignment, submission, "digest", judge.judge(files))
    pages = render(result, assignment)
    assert [line for line in secrets if line in pages] == []
    for test in result.tests:
        assert test.id not in pages and f"{test.id.partition('::')[2]}(" not in pages
        if test.visibility == "hidden" and test.verdict == "failed":
            numbers = re.findall(r"-?\d+\.\d{3,}", test.staff_message)
            public = "".join(t.message for t in result.tests if t.visibility == "public")
            assert [n for n in numbers if n in pages and n not in public] == [], test.id
