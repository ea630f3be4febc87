"""A class on otter-grader, from the built master to marks, with otter's own commands."""

import copy
import json
import os
import pickle
import shutil
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from platforms.conftest import read_scores
from platforms.handed_in import (
    ATTENTION,
    EXIT,
    GALLERY,
    HONEST,
    HOSTILE,
    RUN_METHOD,
    fill,
    hand_in,
    read,
    with_first_cell,
    write,
)
from platforms.pages import read_blocks, run, succeed

from autograder.release.graded import list_tests
from autograder.release.leaks import find_leaks

ZERO_TO_MARKS = "From zero to marks"
SANDBOX = "Verdicts from the sandbox"
RUNS = Path(__file__).with_name("otter_run.py")


def untidy(notebook: Any) -> Any:
    """The same notebook with an answer copied, and cells of checks and text deleted."""
    changed = copy.deepcopy(notebook)
    answer = next(cell for cell in changed.cells if "class MultiHeadAttention" in cell.source)
    changed.cells = [c for c in changed.cells if not c.source.startswith(("grader.", "## 2"))]
    changed.cells.append(copy.deepcopy(answer))
    changed.cells[-1].id = "copied"
    return changed


def find_zip(folder: Path) -> Path:
    (found,) = (folder / "dist" / "attention" / "otter" / "dist" / "autograder").glob("*.zip")
    return found


def read_marks(folder: Path) -> dict[str, float]:
    """Each student's total, from otter's results.json."""
    marks = {}
    for path in folder.glob("*-marks/results.json"):
        tests = json.loads(path.read_text(encoding="utf-8"))["tests"]
        questions = [test for test in tests if "max_score" in test]
        assert sum(question["max_score"] for question in questions) == 100
        student = path.parent.name.removesuffix("-marks")
        marks[student] = sum(question["score"] for question in questions)
    return marks


def switch_on(folder: Path) -> None:
    """Take the # from the lines that the page shows, and run otter assign again."""
    master = folder / "dist" / "attention" / "otter" / "attention.ipynb"
    text = master.read_text(encoding="utf-8")
    for line in read_blocks("otter", SANDBOX, "yaml")[0].splitlines():
        assert f"\\n# {line}" in text
        text = text.replace(f"\\n# {line}", f"\\n{line}")
    master.write_text(text, encoding="utf-8")
    succeed(read_blocks("otter", ZERO_TO_MARKS)[1], folder)


@pytest.fixture(scope="module")
def work(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the release and, in `honest/` and `others/`, what students have handed in."""
    folder = tmp_path_factory.mktemp("otter")
    shutil.copytree(kit / "dist", folder / "dist")
    handed_out = read(folder / "dist/attention/otter/dist/student/attention.ipynb")
    notebooks = hand_in(handed_out)
    notebooks["untidy"] = untidy(notebooks["both"])
    for student, notebook in notebooks.items():
        write(notebook, folder / "honest" / f"{student}.ipynb")
    write(with_first_cell(notebooks["template"], RUN_METHOD), folder / "others" / "forger.ipynb")
    write(fill(handed_out, GALLERY[HOSTILE]), folder / "others" / "hostile.ipynb")
    write(with_first_cell(notebooks["reference"], EXIT), folder / "others" / "exits.ipynb")
    return folder


@pytest.fixture(scope="module")
def grading(work: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The gradings of the class, beside each other: by the kit, plain, and in the sandbox."""
    sandbox = tmp_path_factory.mktemp("sandboxed") / "kit"
    shutil.copytree(work, sandbox)
    forger = "others/forger.ipynb"

    def grade_in_sandbox() -> None:
        switch_on(sandbox)
        succeed(f"{sys.executable} {RUNS} {find_zip(sandbox)} honest/*.ipynb others/*", sandbox)

    with ThreadPoolExecutor(2) as threads:
        yield {
            "expected": threads.submit(
                succeed, "autograder grade attention honest --out grades", work
            ),
            "plain": threads.submit(
                succeed, f"{sys.executable} {RUNS} {find_zip(work)} honest/*.ipynb {forger}", work
            ),
            "sandboxed": threads.submit(grade_in_sandbox),
            "folder": sandbox,
        }


@pytest.fixture(scope="module")
def expected(work: Path, grading: dict[str, Any]) -> dict[str, float]:
    """The marks of `autograder grade` for the same notebooks."""
    grading["expected"].result()
    return read_scores(work / "grades")


@pytest.fixture(scope="module")
def plain(work: Path, grading: dict[str, Any]) -> Path:
    grading["plain"].result()
    return work


@pytest.fixture(scope="module")
def sandboxed(grading: dict[str, Any]) -> Path:
    grading["sandboxed"].result()
    return Path(grading["folder"])


def test_questions_points_and_titles_are_those_of_the_tests(work):
    folder = work / "dist/attention/otter/dist/autograder/tests"
    for exercise in ATTENTION.exercises:
        tests = [test for test in list_tests(ATTENTION) if test.exercise == exercise.id]
        text = (folder / f"{exercise.id}.py").read_text(encoding="utf-8")
        cases = [part.partition(")")[0] for part in text.split("@test_case(points=")[1:]]
        assert [case.split(", ") for case in cases] == [
            [f"{float(test.points):g}", f"hidden={test.is_hidden}"] for test in tests
        ]
        for test in tests:
            assert (test.title if test.is_hidden else test.id) in text


def test_students_get_nothing_of_the_staffs(work):
    folder = work / "dist/attention/otter/dist/student"
    files = {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert {"attention.ipynb", "cells.py"} <= {Path(name).name for name in files}
    assert "supplied.py" not in {Path(name).name for name in files}
    assert list(find_leaks(ATTENTION, files)) == []


def test_students_check_their_work(work, tmp_path):
    shutil.copytree(work / "dist/attention/otter/dist/student", tmp_path / "student")
    handed_out = read(tmp_path / "student/attention.ipynb")
    notebook = fill(handed_out, GALLERY["wrong-mha-scale-dmodel"])
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    cells = [cell for cell in cells if "plt.show" not in cell and "grader.export" not in cell]
    lines = [
        f"print({cell})" if cell.startswith("grader.check(") else cell.replace("# YOUR CODE", "")
        for cell in cells
    ]
    (tmp_path / "student" / "typed.py").write_text("\n\n".join(lines), encoding="utf-8")
    said = succeed("python typed.py", tmp_path / "student", MPLBACKEND="agg")
    assert said.count("All test cases passed!") == 3  # the mistake shows in hidden tests only


def test_plain_marks_of_honest_work_are_those_of_the_kit(plain, expected):
    found = read_marks(plain / "honest")
    assert set(found) == {*HONEST, "untidy"}
    assert found == expected
    assert found["untidy"] == found["both"]


def test_plain_otter_believes_a_forger(plain):
    """The reason for the sandbox: nothing is written, and everything is marked as right."""
    assert read_marks(plain / "others")["forger"] == 100


def test_sandboxed_marks_are_those_of_the_kit(sandboxed, expected):
    assert read_marks(sandboxed / "honest") == expected
    found = read_marks(sandboxed / "others")
    assert found["forger"] == 0
    assert found["exits"] == 100  # the cell is no definition, so it is not run
    assert found["hostile"] < 60


def test_words_are_ours_and_hidden_tests_stay_hidden(sandboxed):
    text = (sandboxed / "honest/both-marks/results.json").read_text(encoding="utf-8")
    assert "Scores are divided by sqrt(d_k), and softmax makes them weights: 0 of" in text
    public, *questions = json.loads(text)["tests"]
    assert public["visibility"] == "visible" and "Scores are divided" not in public["output"]
    assert {question["visibility"] for question in questions} == {"hidden"}
    assert list(find_leaks(ATTENTION, {"results.json": text.encode()})) == []


class Opened:
    """Leaves a trace when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, (f"touch {self.trace}",)


def test_nothing_that_comes_with_a_notebook_is_loaded(sandboxed, tmp_path):
    """A zip as `grader.export` makes it, with files that would run where tests run."""
    trace = tmp_path / "trace"
    ran = f"open({str(trace)!r}, 'w').close()\n"
    handed_in = tmp_path / "submission.zip"
    with zipfile.ZipFile(handed_in, "w") as archive:
        archive.write(sandboxed / "honest" / "halves.ipynb", "attention.ipynb")
        archive.writestr(".OTTER_LOG", pickle.dumps(Opened(trace)))
        for name in ("checking/cells.py", "checking/comparison.py", "torch.py", "IPython.py"):
            archive.writestr(name, ran)
        archive.writestr("tests/multi_head_attention.py", ran)
    command = read_blocks("otter", ZERO_TO_MARKS)[2].replace("submission.ipynb", str(handed_in))
    succeed(command, sandboxed)
    results = json.loads((sandboxed / "marks" / "results.json").read_text(encoding="utf-8"))
    honest = read_marks(sandboxed / "honest")["halves"]
    assert sum(test.get("score", 0) for test in results["tests"]) == honest
    assert not trace.exists()


def test_what_cannot_be_judged_has_no_mark(sandboxed, tmp_path):
    notebook = read(sandboxed / "honest" / "template.ipynb")
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type != "code"]
    write(notebook, tmp_path / "empty.ipynb")
    done = run(f"otter run -a {find_zip(sandboxed)} -o . empty.ipynb", tmp_path)
    assert done.returncode != 0
    assert "has no marks (ungradable)" in done.stderr
    assert not (tmp_path / "results.json").exists()


def test_without_otter_the_release_says_so(tmp_path):
    code = (
        "import sys; sys.modules['otter'] = None; sys.modules['otter.assign'] = None\n"
        "from autograder.cli import main\n"
        "main(['release', 'attention', '--only', 'otter', '--out', 'out'])"
    )
    done = run(f'{sys.executable} -c "{code}"', tmp_path)
    assert done.returncode == 2
    assert "otter-grader is not installed here. Run `make setup-platforms`" in done.stderr
    assert (tmp_path / "out" / "otter" / "attention.ipynb").is_file()
