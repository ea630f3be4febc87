"""A class on nbgrader, from the built course to marks, with nbgrader's own commands."""

import copy
import csv
import html
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook
from platforms.conftest import read_scores
from platforms.handed_in import (
    ATTENTION,
    EXIT,
    GALLERY,
    HONEST,
    HOSTILE,
    INPUT_HOOK,
    fill,
    hand_in,
    read,
    with_first_cell,
    write,
)
from platforms.lab import TOKEN, browse, serve
from platforms.pages import read_blocks, run, succeed

from autograder.errors import KitError
from autograder.platforms.nbgrader import Verdicts
from autograder.release.graded import list_tests
from autograder.release.leaks import find_leaks

ZERO_TO_MARKS = "From zero to marks"
SANDBOX = "Verdicts from the sandbox"
KEPT = "Graded by the kit, kept by nbgrader"
DELETED = (
    "multi_head_attention-public-2",
    "multi_head_attention-hidden-1",
    "multi_head_attention-hidden-2",
    "positional_encoding-hidden-3",
)


def grade_id(cell: Any) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def untidy(notebook: Any) -> Any:
    """The same notebook, an answer copied and some grade cells deleted."""
    changed = copy.deepcopy(notebook)
    (answer,) = [cell for cell in changed.cells if grade_id(cell) == "multi_head_attention"]
    changed.cells = [cell for cell in changed.cells if grade_id(cell) not in DELETED]
    changed.cells.append(copy.deepcopy(answer))
    changed.cells[-1].id = "copied"
    return changed


def bare(notebook: Any) -> Any:
    """The same answers without any grade cell, one of them in a cell of the student's own."""
    changed = copy.deepcopy(notebook)
    changed.cells = [c for c in changed.cells if not c.metadata.get("nbgrader", {}).get("grade")]
    (answer,) = [cell for cell in changed.cells if grade_id(cell) == "multi_head_attention"]
    del answer.metadata["nbgrader"]
    return changed


def with_a_grade_cell(notebook: Any) -> Any:
    """The same notebook and a grade cell that the student has made up."""
    changed = copy.deepcopy(notebook)
    cell = nbformat.v4.new_code_cell("pass")
    known = next(c for c in changed.cells if c.metadata.get("nbgrader", {}).get("grade"))
    cell.metadata["nbgrader"] = {**known.metadata.nbgrader, "grade_id": "mine", "points": 100}
    changed.cells.append(cell)
    return changed


def submit(course: Path, notebooks: dict[str, Any]) -> None:
    for student, notebook in notebooks.items():
        write(notebook, course / "submitted" / student / "attention" / "attention.ipynb")


def scores(course: Path) -> dict[str, float]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "attention") as gradebook:
        found = gradebook.assignment_submissions("attention")
        assert not any(submission.needs_manual_grade for submission in found)
        return {submission.student.id: submission.score for submission in found}


def switch_on(course: Path) -> None:
    """Take the # from the two lines that the page shows."""
    path = course / "nbgrader_config.py"
    config = path.read_text(encoding="utf-8")
    for line in read_blocks("nbgrader", SANDBOX, "python")[0].splitlines():
        assert f"\n# {line}\n" in config
        config = config.replace(f"\n# {line}\n", f"\n{line}\n")
    path.write_text(config, encoding="utf-8")


@pytest.fixture(scope="module")
def work(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a course of which students have handed in."""
    folder = tmp_path_factory.mktemp("nbgrader")
    shutil.copytree(kit / "dist", folder / "dist")
    build, _ = read_blocks("nbgrader", ZERO_TO_MARKS)
    said = succeed(build, folder)
    assert "Success! Your notebook passes all the tests." in said
    course = folder / "course"
    handed_out = read(course / "release" / "attention" / "attention.ipynb")
    notebooks = hand_in(handed_out)
    notebooks["untidy"] = untidy(notebooks["both"])
    notebooks["forger"] = with_first_cell(notebooks["template"], INPUT_HOOK)
    submit(course, notebooks)
    return folder


@pytest.fixture(scope="module")
def grading(work: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Three gradings of the class, beside each other: by the kit, plain, and in the sandbox."""
    sandbox = tmp_path_factory.mktemp("sandboxed")
    shutil.copytree(work / "course", sandbox / "course")
    course = sandbox / "course"
    handed_out = read(course / "release" / "attention" / "attention.ipynb")
    right = fill(handed_out, GALLERY["reference"])
    submit(course, {"hostile": fill(handed_out, GALLERY[HOSTILE])})
    submit(course, {"exits": with_first_cell(right, EXIT), "bare": bare(right)})
    submit(course, {"inventor": with_a_grade_cell(fill(handed_out, {}))})
    switch_on(course)
    again = read_blocks("nbgrader", SANDBOX)[0]
    by_kit = read_blocks("nbgrader", KEPT)[0].splitlines()[0]
    with ThreadPoolExecutor(2) as threads:
        plain = threads.submit(succeed, read_blocks("nbgrader", ZERO_TO_MARKS)[1], work)
        expected = threads.submit(succeed, by_kit, work)
        sandboxed = threads.submit(succeed, again, sandbox)
        yield {"plain": plain, "expected": expected, "sandboxed": sandboxed, "folder": sandbox}


@pytest.fixture(scope="module")
def expected(work: Path, grading: dict[str, Any]) -> dict[str, float]:
    """The marks of `autograder grade` for the same notebooks."""
    grading["expected"].result()
    return read_scores(work / "grades" / "attention")


@pytest.fixture(scope="module")
def plain(work: Path, grading: dict[str, Any]) -> Path:
    """The course, graded as nbgrader does it."""
    grading["plain"].result()
    return work / "course"


@pytest.fixture(scope="module")
def sandboxed(grading: dict[str, Any]) -> Path:
    """The course, graded with the sandbox switched on, more hostile work included."""
    grading["sandboxed"].result()
    return Path(grading["folder"]) / "course"


def test_the_class_has_marks_of_all_kinds(expected):
    assert (expected["reference"], expected["template"], expected["forger"]) == (100, 0, 0)
    wrong = {expected[student] for student in ("halves", "both")}
    assert len(wrong) == 2 and all(50 < score < 100 for score in wrong)
    assert expected["untidy"] == expected["both"]


def test_points_and_titles_are_those_of_the_tests(work):
    handed_out = read(work / "course" / "release" / "attention" / "attention.ipynb")
    cells = {grade_id(cell): cell for cell in handed_out.cells if grade_id(cell)}
    graded = {name: cell for name, cell in cells.items() if cell.metadata.nbgrader["grade"]}
    tests = list_tests(ATTENTION)
    assert list(graded) == [test.cell for test in tests]
    for test in tests:
        assert graded[test.cell].metadata.nbgrader["points"] == float(test.points)
        assert graded[test.cell].source.splitlines()[0].endswith(f": {test.title}")
    assert sum(cell.metadata.nbgrader["points"] for cell in graded.values()) == 100


def test_students_get_nothing_of_the_staffs(work):
    folder = work / "course" / "release"
    files = {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert len(files) > 10
    assert list(find_leaks(ATTENTION, files)) == []


def test_plain_marks_of_honest_work_are_those_of_the_kit(plain, expected):
    found = scores(plain)
    honest = {*HONEST, "untidy"}
    assert {s: found[s] for s in honest} == {s: expected[s] for s in honest}


def test_plain_nbgrader_believes_a_forger(plain):
    """The reason for the sandbox: nothing is written, and everything is marked as right."""
    assert scores(plain)["forger"] == 100


def test_plain_marks_are_exported(plain, expected):
    with (plain / "grades.csv").open(encoding="utf-8") as file:
        rows = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert {s: rows[s] for s in HONEST} == {s: expected[s] for s in HONEST}


def test_sandboxed_marks_are_those_of_the_kit(sandboxed, expected):
    found = scores(sandboxed)
    assert {s: found[s] for s in expected} == expected
    assert found["forger"] == 0
    assert found["exits"] == 100  # the cell is no definition, so it is not run
    assert (found["bare"], found["inventor"]) == (100, 0)
    # Each exercise has a process of its own; only the one that ends its process has no points.
    assert found["hostile"] < 60


def read_page(path: Path) -> str:
    """The text of a page as its reader sees it."""
    text = re.sub(r"(?s)<(script|style).*?</\1>", "", path.read_text(encoding="utf-8"))
    return html.unescape(re.sub(r"<[^>]+>", "", text))


def test_feedback_says_what_we_say_and_hides_what_is_hidden(sandboxed):
    pages = {
        student: read_page(sandboxed / "feedback" / student / "attention" / "attention.html")
        for student in ("template", "both", "hostile", "forger")
    }
    assert "✗ Scores are divided by sqrt(d_k), and softmax makes them weights: 0" in pages["both"]
    assert "sqrt(d_model)" in pages["both"]  # the mistake is named
    assert "Not yet written." in pages["template"]
    shown = {"template": pages["template"].encode(), "forger": pages["forger"].encode()}
    assert list(find_leaks(ATTENTION, shown)) == []
    assert [line for page in pages.values() for line in find_hidden(page)] == []


def find_hidden(page: str) -> list[str]:
    """What a page says of hidden tests; what a student wrote may be what the reference says."""
    leaks = find_leaks(ATTENTION, {"page": page.encode()})
    return [line for line in leaks if "of the hidden" in line or "hidden test" in line]


def test_scores_land_in_grade_cells(sandboxed):
    with Gradebook(f"sqlite:///{sandboxed / 'gradebook.db'}", "attention") as gradebook:
        for student, lost in (("reference", []), ("halves", ["positional_encoding"])):
            notebook = gradebook.find_submission_notebook("attention", "attention", student)
            wrong = [grade.name for grade in notebook.grades if grade.score != grade.max_score]
            assert {name.split("-")[0] for name in wrong} == set(lost)
            assert len(notebook.grades) == len(list_tests(ATTENTION))


def test_formgrader_shows_sandboxed_marks_and_words(sandboxed, expected, tmp_path):
    with serve(sandboxed, tmp_path) as address, browse() as page:
        page.goto(f"{address}/formgrader?token={TOKEN}")
        page.goto(f"{address}/formgrader/gradebook/attention/attention")
        row = page.get_by_role("row").filter(has_text=f"{expected['both']:g} / 100").first
        row.get_by_role("link").first.click()
        page.get_by_text("Scores are divided by sqrt(d_k)").first.wait_for()
        page.wait_for_load_state("networkidle")
        shown = "inputs => inputs.map(input => Number(input.value || input.placeholder))"
        points = page.eval_on_selector_all("input.score", shown)
        text = page.inner_text("body")
    assert len(points) == len(list_tests(ATTENTION)) and sum(points) == expected["both"]
    assert "✗ Scores are divided by sqrt(d_k), and softmax makes them weights: 0 of" in text
    assert "✓ The sequences of a batch do not see each other: " in text
    assert find_hidden(text) == []


def test_what_cannot_be_judged_has_no_mark(sandboxed):
    notebook = read(sandboxed / "release" / "attention" / "attention.ipynb")
    for cell in notebook.cells:
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade"):
            cell.source = "print('I have tried')"
    submit(sandboxed, {"empty": notebook})
    done = run("nbgrader autograde attention --student empty", sandboxed)
    assert done.returncode != 0
    assert "has no marks (ungradable): Nothing in it can be graded" in done.stdout + done.stderr
    assert not (sandboxed / "autograded" / "empty" / "attention" / "attention.ipynb").exists()


@pytest.mark.parametrize("change", ["points", "title", "name"])
def test_a_course_of_other_tests_is_refused(sandboxed, change):
    """The notebook was handed out before the tests changed."""
    notebook = read(sandboxed / "submitted" / "both" / "attention" / "attention.ipynb")
    (cell,) = [cell for cell in notebook.cells if grade_id(cell) == "multi_head_attention-hidden-1"]
    if change == "points":
        cell.metadata.nbgrader["points"] += 1
    elif change == "title":
        cell.source = "# Hidden test, 1 point: Something else"
    else:
        cell.metadata.nbgrader["grade_id"] = "another"
    resources = {"nbgrader": {"assignment": "attention", "student": "both"}}
    with pytest.raises(KitError, match="build the course anew"):
        Verdicts().preprocess(notebook, resources)


def test_scores_are_written_into_a_gradebook_and_manual_marks_stay(work, expected, tmp_path):
    shutil.copytree(work / "course", tmp_path / "course")
    shutil.copytree(work / "grades", tmp_path / "grades")
    url = f"sqlite:///{tmp_path / 'course' / 'gradebook.db'}"
    cell = "attention_block-hidden-1"
    with Gradebook(url, "attention") as gradebook:
        gradebook.update_or_create_student("halves")
        gradebook.update_or_create_submission("attention", "halves")
        grade = gradebook.find_grade(cell, "attention", "attention", "halves")
        grade.manual_score, grade.extra_credit = 1, 0.5
        gradebook.db.commit()
    command = read_blocks("nbgrader", KEPT)[0].splitlines()[1]
    before = (tmp_path / "course" / "gradebook.db").read_bytes()
    said = succeed(f"{command} --dry-run", tmp_path)
    assert "Dry run, nothing written" in said
    assert (tmp_path / "course" / "gradebook.db").read_bytes() == before
    said = succeed(command, tmp_path)
    assert "marked by hand in part, look again: halves" in said
    with Gradebook(url, "attention") as gradebook:
        found = {s.student.id: s.score for s in gradebook.assignment_submissions("attention")}
        grade = gradebook.find_grade(cell, "attention", "attention", "halves")
        maximum = grade.max_score
        assert (grade.auto_score, grade.manual_score, grade.extra_credit) == (maximum, 1, 0.5)
    assert found.pop("halves") == expected["halves"] - maximum + 1.5
    assert found == {s: score for s, score in expected.items() if s != "halves"}
    assert f"0 students change, {len(expected)} stay" in succeed(command, tmp_path)


@pytest.mark.parametrize(
    ("gradebook", "said"),
    [
        ("none.db", "there is no gradebook of nbgrader's"),
        ("grades/attention/grades.csv", "cannot be used"),
        ("nonsense://x", "cannot be used|no database's URL"),
    ],
)
def test_a_gradebook_that_is_none_is_said(work, expected, gradebook, said):
    done = run(f"autograder export nbgrader attention {gradebook}", work)
    assert done.returncode == 2
    assert re.search(said, done.stderr), done.stderr
    assert "Traceback" not in done.stderr
