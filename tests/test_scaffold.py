"""Does `make new` lead somewhere? A throwaway assignment, from the skeleton to marks.

It is made in a kit of its own, with the commands that an author calls.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from autograder import assignment, scaffold
from autograder.cli import main
from autograder.errors import KitError

ROOT = Path(__file__).resolve().parent.parent
A, E = "throwaway", "so_far"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kit without an assignment, in which commands work from now on."""
    kit = tmp_path / "kit"
    shutil.copytree(
        ROOT / "assignments" / "checking",
        kit / "assignments" / "checking",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    monkeypatch.setattr(assignment, "find_root", lambda start=None: kit)
    monkeypatch.chdir(kit)
    return kit


def call(*words: str) -> int:
    """Run a command as from the command line; return its exit code."""
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    return int(stopped.value.code or 0)


def read_verify(output: str) -> dict[str, list[str]]:
    """What verify says: the names of failed checks, with their problems."""
    failed: dict[str, list[str]] = {}
    for line in output.splitlines():
        if line.startswith("FAIL "):
            failed[line[5:].split(" (")[0]] = []
        elif line.startswith("   ") and failed:
            failed[list(failed)[-1]].append(line.strip())
    return failed


def fill_in(root: Path) -> None:
    """Do what the skeleton asks for: another exercise, the largest number so far."""
    for path in (*(root / "assignments" / A).rglob("*"), *(root / "solutions" / A).rglob("*")):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            text = re.sub(r"(?ms)^<!-- FILL IN.*?-->\n\n", "", text)
            text = re.sub(r"(?m)[ #]*FILL IN: [^\n\"]*", "", text)
            text = re.sub(r"(?m)^# Comments that begin with FILL IN.*\n", "", text)
            path.write_text(text.replace("A new assignment", "Largest so far"), encoding="utf-8")
    solutions = root / "solutions" / A
    edits = {
        root / "assignments" / A / "handout.md": [
            ("tensor([1.0000, 1.5000, 3.0000])", "tensor([1., 2., 6.])"),
        ],
        solutions / f"{E}.py": [
            ("    count = torch.arange(1, len(x) + 1)\n", ""),
            ("return x.cumsum(0) / count", "return x.cummax(0).values"),
        ],
        solutions / "tests" / f"test_{E}.py": [
            (".double().mean()", ".double().max()"),
            # verify insists: at random, the largest number may come too early to show anything.
            ("return torch.randn", "return torch.arange(0.1, length) + 0.01 * torch.randn"),
        ],
        solutions / "faults.py": [
            ("lambda x: x.cumsum(-1), (", "lambda x: x.cummax(-1).values, ("),
            ("x.flip(-1).cumsum(-1).flip(-1)", "x.flip(-1).cummax(-1).values.flip(-1)"),
            ("lambda n: torch.arange(1, n + 1), (", "lambda n: 1, ("),
            ('"What makes a sum a mean?"', '"Is anything divided?"'),
            ('"not_divided", "the sums are not divided"', '"divided", "the result is divided"'),
            ("lambda n: 1),", "lambda n: torch.arange(1, n + 1)),"),
        ],
        solutions / "gallery/right/loop" / f"{E}.py": [
            ("[], 0.0", '[], float("-inf")'),
            ("total += number", "total = max(total, number)"),
            ("total / (place + 1)", "total"),
            ("place, number in enumerate(x.tolist())", "number in x.tolist()"),
        ],
        solutions / "gallery/wrong/backwards" / f"{E}.py": [
            (
                "torch.flip(torch.cumsum(torch.flip(x, [0]), 0), [0])",
                "x.flip(0).cummax(0)[0].flip(0)",
            ),
            (" / torch.arange(1, len(x) + 1)", ""),
        ],
        solutions / "gallery/wrong/float64" / f"{E}.py": [
            ("x.double().cumsum(0) / torch.arange(1, len(x) + 1)", "x.double().cummax(0)[0]"),
        ],
        solutions / "gallery/wrong/not_divided" / f"{E}.py": [
            ("torch.cumsum(x, dim=0)", "x.cummax(0).values / torch.arange(1, len(x) + 1)"),
        ],
        solutions / "gallery/wrong/not_divided" / "case.toml": [("not_divided", "divided")],
    }
    for path, pairs in edits.items():
        text = path.read_text(encoding="utf-8")
        for old, new in pairs:
            assert old in text, f"{path.name}: {old}"
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")


def test_a_skeleton_becomes_an_assignment_that_is_verified_released_and_graded(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("new", A, "--exercise", E) == 0
    assert f"assignments/{A}/assignment.toml" in capsys.readouterr().out

    left = {mark.split(",")[0] for mark in scaffold.find_marks(assignment.load(A, root=root))}
    assert {f"solutions/{A}/{E}.py", f"assignments/{A}/handout.md"} <= left
    if os.environ.get("VERIFY_ALL"):  # what is left to fill in is all that verify finds
        assert call("verify", A, "--accept") == 2
        assert list(read_verify(capsys.readouterr().out)) == ["nothing is left to fill in"]

    fill_in(root)
    assert call("template", A) == 0
    assert call("verify", A, "--accept") == 0, capsys.readouterr().out
    assert "FAIL" not in capsys.readouterr().out

    school = root / "submissions"
    for student, source in {
        "ada": (root / "solutions" / A / f"{E}.py").read_text(encoding="utf-8"),
        "bob": f"def {E}(x):\n    return x.flip(0).cummax(0)[0].flip(0)\n",
        "eve": (root / "student_template" / A / f"{E}.py").read_text(encoding="utf-8"),
    }.items():
        (school / student).mkdir(parents=True)
        (school / student / f"{E}.py").write_text(source, encoding="utf-8")
    assert call("grade", A, str(school), "--out", str(root / "grades")) == 0
    with (root / "grades" / "grades.csv").open(encoding="utf-8", newline="") as file:
        scores = {row["student"]: row["score"] for row in csv.DictReader(file)}
    assert (scores["ada"], scores["bob"], scores["eve"]) == ("8", "3", "0")
    feedback = (root / "grades" / "bob" / "feedback.md").read_text(encoding="utf-8")
    assert "added up from the end" in feedback

    assert call("release", A, "--only", "student", "--out", str(root / "dist")) == 0
    with zipfile.ZipFile(root / "dist" / "student.zip") as bundle:
        names = bundle.namelist()
        stub = bundle.read(f"{A}/{E}.py").decode()
    assert f"{A}/tests/test_{E}.py" in names
    assert f'raise NotImplementedError("{A} / {E}")' in stub
    assert "cummax" not in stub


@pytest.mark.parametrize("exercise", ["Conv", "2d", "a-b", "import", "random", "torch", "../x"])
def test_ids_that_cannot_be_used_are_refused_in_words(root: Path, exercise: str) -> None:
    with pytest.raises(KitError, match="use small letters|choose another"):
        scaffold.lay_down(root, A, exercise)
    assert not (root / "solutions").exists()


def test_what_is_there_is_never_overwritten(root: Path) -> None:
    (root / "solutions" / A).mkdir(parents=True)
    with pytest.raises(KitError, match=f"solutions/{A} is there already"):
        scaffold.lay_down(root, A, E)


def test_every_file_of_the_skeleton_goes_somewhere() -> None:
    templates = {path.name.removesuffix(".j2") for path in scaffold.SKELETON.glob("*.j2")}
    assert templates == set(scaffold.PLACES)
