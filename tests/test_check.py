"""`check.py`, run as a student runs it: from the bundle alone, with whatever they have written."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest
from student_folder import (
    copy_with,
    read_case,
    read_solution,
    run_any,
    run_check,
    run_python,
    run_unread,
)

from autograder import expectation
from autograder.assignment import Assignment, load
from autograder.gallery import list_cases
from autograder.intake import kept
from autograder.intake.disk import read_folder
from autograder.intake.matching import pick_files
from autograder.release.graded import list_tests

MESSY = """
import sys
print("a line of mine")
print("x" * 100_000)
for _ in range(5000):
    print("again", file=sys.stderr)
"""
ENDS_AT_IMPORT = "import os\nos._exit(0)\n"
NOT_PYTHON = "def positional_encoding(max_len, d_model:\n    return 1\n"
LOOPS = """
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.Wq = self.Wk = self.Wv = self.Wo = nn.Linear(d_model, d_model)

    def forward(self, x):
        while True:
            pass
"""


@pytest.fixture(scope="session")
def attention() -> Assignment:
    return load("attention")


def hurry(folder: Path, test_seconds: float = 0.3) -> None:
    """Set the limits of a bundle to parts of a second."""
    path = folder / "tests" / "graded.json"
    described = json.loads(path.read_text(encoding="utf-8"))
    described |= {"import_seconds": 0.3, "test_seconds": test_seconds}
    path.write_text(json.dumps(described), encoding="utf-8")


# --- what it says -----------------------------------------------------------------------------


def test_nothing_written_yet(bundle: Path) -> None:
    said = run_check(bundle).splitlines()
    assert [line.split("  ")[-1] for line in said[:3]] == ["not yet written"] * 3
    assert said[-1] == "Next: MultiHeadAttention.forward in multi_head_attention.py"
    assert len(said) < 8


def test_the_right_answer(bundle: Path, attention: Assignment, tmp_path: Path) -> None:
    folder = copy_with(bundle, tmp_path / "my work", read_solution(attention))
    said = run_check(folder)
    tests = list_tests(attention)
    for test in tests:
        assert (f"✓ {test.title}" in said) is not test.is_hidden
    hidden = [test for test in tests if test.is_hidden]
    assert f"{len(hidden)} hidden tests for {sum(test.points for test in hidden):.0f} more" in said
    assert "All public tests hold." in said
    assert not (folder / "__pycache__").exists()


def test_a_typical_wrong_attempt(bundle: Path, attention: Assignment, tmp_path: Path) -> None:
    files = read_case(attention, "wrong/pe-transposed")
    files["attention_block.py"] = (bundle / "attention_block.py").read_text(encoding="utf-8")
    said = run_check(copy_with(bundle, tmp_path / "b", files), "--hint")
    assert "positional_encoding(50, 64) has the shape (64, 50); expected (50, 64)" in said
    assert "? Which axes does your table have" in said
    assert "3. Attention block  attention_block.py  not yet written" in said
    assert "Next: positional_encoding.py" in said
    assert "Hint 1 of 3" in said
    assert len(said.splitlines()) < 30


def test_a_wrong_number_is_told_by_its_place(
    bundle: Path, attention: Assignment, tmp_path: Path
) -> None:
    folder = copy_with(bundle, tmp_path / "b", read_case(attention, "wrong/pe-two-i-raw"))
    said = run_check(folder, "2")
    assert "the beginning of row 1 is off by up to" in said
    assert "The first difference is at [1]" in said
    assert "Multi-head attention" not in said


def test_a_float64_table_is_told_in_both_exercises(
    bundle: Path, attention: Assignment, tmp_path: Path
) -> None:
    said = run_check(copy_with(bundle, tmp_path / "b", read_case(attention, "wrong/pe-float64")))
    assert "has the dtype float64; expected float32" in said
    assert "Which of your tensors is not float32?" in said
    assert "This may come from exercise 2, which it builds on." in said


def test_what_waits_for_another_exercise_is_not_called_unwritten(
    bundle: Path, attention: Assignment, tmp_path: Path
) -> None:
    files = {"attention_block.py": read_solution(attention)["attention_block.py"]}
    said = run_check(copy_with(bundle, tmp_path / "b", files))
    assert "3. Attention block  attention_block.py  not yet written" not in said
    assert "it needs positional_encoding, which is not yet written" in said


def test_a_class_without_forward_is_not_called_unwritten(
    bundle: Path, attention: Assignment, tmp_path: Path
) -> None:
    source = read_solution(attention)["multi_head_attention.py"].replace("def forward", "def go")
    folder = copy_with(bundle, tmp_path / "b", {"multi_head_attention.py": source})
    said = run_check(folder, "multi_head_attention")
    assert 'missing the required "forward" function' in said
    assert "not yet written" not in said


# --- whatever students' code does ---------------------------------------------------------------


def test_files_that_misbehave_spoil_nothing_else(
    bundle: Path, attention: Assignment, tmp_path: Path
) -> None:
    right = read_solution(attention)
    files = {
        "multi_head_attention.py": ENDS_AT_IMPORT,
        "positional_encoding.py": NOT_PYTHON,
        "attention_block.py": MESSY + right["attention_block.py"],
    }
    said = run_check(copy_with(bundle, tmp_path / "b", files))
    assert "multi_head_attention.py cannot be imported" in said
    assert "multi_head_attention.py, line 2: os._exit(0)" in said
    assert "SyntaxError: '(' was never closed" in said
    assert "positional_encoding.py, line 1: def positional_encoding(max_len, d_model:" in said
    assert "a line of mine" in said
    assert len(said) < 4000


def test_missing_files_and_names(bundle: Path, attention: Assignment, tmp_path: Path) -> None:
    files = {"multi_head_attention.py": "", "positional_encoding.py": "pi = 3\n"}
    folder = copy_with(bundle, tmp_path / "b", files)
    (folder / "Multi_Head_Attention.py").write_text("x = 1\n", encoding="utf-8")
    said = run_check(folder)
    assert "file not found: multi_head_attention.py" in said
    assert "positional_encoding.py defines no positional_encoding" in said


def test_an_endless_loop_ends(bundle: Path, tmp_path: Path) -> None:
    folder = copy_with(bundle, tmp_path / "b", {"multi_head_attention.py": LOOPS})
    hurry(folder)
    said = run_check(folder, "1")
    assert "this takes longer than 0.6 s" in said
    assert re.search("multi_head_attention.py, line 1[01]: (while|pass)", said)
    assert said.count("longer than") == 1  # the tests after it are not run


def test_an_import_has_the_time_that_grading_gives_it(
    bundle: Path, attention: Assignment, tmp_path: Path
) -> None:
    source = read_solution(attention)["positional_encoding.py"]
    files = {"positional_encoding.py": f"import time\ntime.sleep(0.7)\n{source}"}
    folder = copy_with(bundle, tmp_path / "b", files)
    hurry(folder, test_seconds=30)
    assert "to import your file took 0." in run_check(folder, "2")


def test_other_files_of_the_folder(bundle: Path, attention: Assignment, tmp_path: Path) -> None:
    right = read_solution(attention)
    files = {"positional_encoding.py": "import tools\n" + right["positional_encoding.py"]}
    files |= {"tools.py": "x = 1\n", "random.py": "1 / 0\n", "torch.py": "1 / 0\n"}
    files["pyproject.toml"] = '[tool.pytest.ini_options]\naddopts = "--no-such-option"\n'
    folder = copy_with(bundle, tmp_path / "b", files)
    said = run_check(folder, "positional_encoding.py")
    assert "tools.py is not handed in: move what you need of it into this file" in said
    (folder / "positional_encoding.py").write_text(right["positional_encoding.py"])
    assert "All public tests hold." in run_check(folder, "2", PYTEST_ADDOPTS="--no-such-option")


@pytest.mark.parametrize("name", ["comparison.py", "student_files.py", "graded.json"])
def test_a_folder_that_is_not_whole(bundle: Path, tmp_path: Path, name: str) -> None:
    code, said = run_any(copy_with(bundle, tmp_path / "b", {f"tests/{name}": ""}))
    assert code != 0
    assert "Unpack the handed-out folder anew and copy your own files into it." in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('import sys; sys.exit("bye")', "SystemExit: bye"),
        ("raise KeyboardInterrupt", "Stopped. It was at multi_head_attention.py, line"),
        ("input('name? ')", "Nothing can be typed in while tests run"),
        ("import sys; sys.stdout.close(); print(1); return x", "tokens do not see each other"),
        ("assert x.shape == 3, 'mine'", "AssertionError: mine"),
    ],
)
def test_what_a_line_of_code_can_do(
    bundle: Path, attention: Assignment, tmp_path: Path, line: str, words: str
) -> None:
    source = read_solution(attention)["multi_head_attention.py"]
    source = source.replace("# BEGIN SOLUTION", line)
    _, said = run_any(copy_with(bundle, tmp_path / "b", {"multi_head_attention.py": source}), "1")
    assert words in said
    assert "Traceback" not in said


def test_packages_that_are_missing_are_named(bundle: Path, tmp_path: Path) -> None:
    said = run_python(bundle, "-S", "check.py").stderr
    assert "Not installed for" in said
    assert "torch, numpy, pytest" in said


def test_an_old_console(bundle: Path, attention: Assignment, tmp_path: Path) -> None:
    folder = copy_with(bundle, tmp_path / "b", read_solution(attention))
    said = run_python(folder, "check.py", "2", PYTHONUTF8="0", PYTHONIOENCODING="cp1252").stdout
    assert "+ Rows 0, 1 and 7 begin as the handout prints them" in said


def test_calls_that_make_no_sense(bundle: Path) -> None:
    for words, reason in (
        (["attentoin"], "There is no exercise 'attentoin'. There are:"),
        (["--hint", "4"], "invalid choice"),
        (["2", "--submit"], "--submit packs all exercises"),
    ):
        code, said = run_any(bundle, *words)
        assert code == 2
        assert reason in said
        assert "Traceback" not in said


@pytest.mark.parametrize("words", ["--help", "2", "--submit", "2 --verbose", "2 --watch"])
def test_whoever_stops_reading_is_no_fault(
    bundle: Path, attention: Assignment, tmp_path: Path, words: str
) -> None:
    folder = copy_with(bundle, tmp_path / "b", read_solution(attention))
    assert run_unread(folder, "check.py", *words.split()) == (0, "")
    assert (folder / "attention-submission.zip").exists() is (words == "--submit")


# --- in a notebook ------------------------------------------------------------------------------


def test_check_takes_a_notebooks_names(bundle: Path, attention: Assignment, tmp_path: Path) -> None:
    source = read_solution(attention)["positional_encoding.py"]
    script = tmp_path / "cells.py"
    script.write_text(
        f"import sys\nsys.path.insert(0, {str(bundle)!r})\nfrom check import check\n"
        f"space = {{'__name__': '__main__'}}\ncheck('positional_encoding', space)\n"
        f"exec({source!r}, space)\ncheck('positional_encoding', space)\n"
        "check('positional_encoding')\ncheck('encoding')\n"
    )
    done = run_python(tmp_path, str(script))
    assert not done.stderr
    missing, right, file, unknown = *done.stdout.split("Sinusoidal")[1:], done.stdout
    assert "there is no positional_encoding yet; run the cell that defines it" in missing
    assert "8 of 8 public points" in right
    assert "not yet written" in file
    assert "There is no exercise 'encoding'." in unknown


@pytest.mark.parametrize("name", ["kept.py", "statements.py"])
def test_both_sides_read_a_notebook_in_the_same_way(bundle: Path, name: str) -> None:
    """The engine is not handed out: its reader of notebooks has a copy in assignments/checking."""
    engine = Path(kept.__file__).with_name(name).read_bytes()
    assert (bundle / "checker" / name).read_bytes() == engine


LOST = {
    "a loop": "for i in range(3):\n    softmax = torch.nn.Softmax(-1)",
    "a file": "softmax = torch.load('softmax.pt', weights_only=False)",
}
FINE = {
    "a value": "softmax = torch.nn.Softmax(dim=-1)",
    "a lambda": "softmax = lambda x: x.softmax(-1)",
}


@pytest.mark.parametrize("kind", [*LOST, *FINE])
def test_what_grading_does_not_run_is_said_before(
    bundle: Path, attention: Assignment, tmp_path: Path, kind: str
) -> None:
    """By `check` in the notebook, by --submit and by the grader alike."""
    right = read_solution(attention)
    source = right["multi_head_attention.py"]
    assert source.count("scores.softmax(dim=-1)") == 1
    source = source.replace("scores.softmax(dim=-1)", "softmax(scores)")
    cells = [f"import torch\n{(LOST | FINE)[kind]}", source, right["positional_encoding.py"]]
    folder = copy_with(bundle, tmp_path / "b", {"attention.ipynb": make_notebook(*cells)})
    (tmp_path / "cells.py").write_text(
        f"import sys\nsys.path.insert(0, {str(bundle)!r})\nfrom check import check\n"
        f"space = {{'__name__': '__main__', 'In': ['', *{cells!r}]}}\n"
        f"exec({source!r}, space)\nspace['softmax'] = space['torch'].nn.Softmax(dim=-1)\n"
        "check('multi_head_attention', space)\ncheck('positional_encoding', space)\n"
    )
    told = run_python(tmp_path, "cells.py").stdout
    assert "15 of 15 public points" in told
    picked = pick_files(read_folder(copy_notebook(folder, tmp_path / "in")), attention)
    graded = [note.partition(": ")[2] for note in picked.notes if " is used by your code" in note]
    assert len(set(graded)) == (kind in LOST)
    for said in (told, run_check(folder, "--submit", "notebook")):
        assert said.count(" is used by your code") == (kind in LOST)
        assert all(note in said for note in graded)


def make_notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "source": cell, "outputs": [], "metadata": {}} for cell in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def copy_notebook(folder: Path, home: Path) -> Path:
    home.mkdir()
    shutil.copy(folder / "attention.ipynb", home)
    return home


# --- handing in ---------------------------------------------------------------------------------


def test_submit_packs_what_is_there(bundle: Path, attention: Assignment, tmp_path: Path) -> None:
    right = read_solution(attention)
    files = {
        "multi_head_attention.py": right["multi_head_attention.py"],
        "positional_encoding.py": "",
        "notes.txt": "mine",
        "attention_block.py": "import notes\n" + NOT_PYTHON,
        "notes.py": "x = 1\n",
    }
    folder = copy_with(bundle, tmp_path / "b", files)
    (folder / "Positional_Encoding.py").write_text(right["positional_encoding.py"])
    said = run_check(folder, "--submit")
    path = folder / "attention-submission.zip"
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == sorted(attention.files)
        assert archive.read("positional_encoding.py").decode() == right["positional_encoding.py"]
    assert f"SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()}" in said
    assert "Positional_Encoding.py is packed as positional_encoding.py" in said
    assert "attention_block.py is not Python yet" in said
    assert "15 of 15 public points" in said
    assert "hidden tests for 67 more points" in said
    assert "Not finished: positional_encoding.py, attention_block.py." in said


def test_submit_knows_the_notebook(bundle: Path, tmp_path: Path) -> None:
    folder = copy_with(bundle, tmp_path / "b", {})
    said = run_check(folder, "--submit")
    assert "If you have worked in attention.ipynb" in said
    said = run_check(folder, "--submit", "notebook")
    with zipfile.ZipFile(folder / "attention-submission.zip") as archive:
        assert archive.namelist() == ["attention.ipynb"]
    assert "nothing in attention.ipynb is written yet" in said
    text = (folder / "attention.ipynb").read_text(encoding="utf-8")
    stub = 'raise NotImplementedError(\\"attention / positional_encoding\\")'
    assert stub in text
    (folder / "attention.ipynb").write_text(text.replace(stub, "return 1"), encoding="utf-8")
    said = run_check(folder, "--submit", "notebook")
    assert "those of multi_head_attention.py, attention_block.py" in said


# --- promises -----------------------------------------------------------------------------------


def test_hidden_points_are_lost_only_where_the_handout_promises_a_test(
    attention: Assignment, bundle: Path
) -> None:
    tests = {test.id: test for test in list_tests(attention)}
    handout = (bundle / "handout.md").read_text(encoding="utf-8")
    surprised = 0
    for folder in list_cases(attention):
        case = expectation.read_case(folder)
        lost = [tests[name] for name in expectation.expand(case.verdicts, list(tests))]
        if lost and all(test.is_hidden for test in lost):
            surprised += 1
            for test in lost:
                assert f"- {test.title} ({test.points})" in handout, f"{folder.name}: {test.id}"
    assert surprised > 50


@pytest.mark.parametrize("case", ["right/all-in-one-file", "right/pe-inference-mode"])
def test_odd_right_answers_are_right_here_too(
    bundle: Path, attention: Assignment, tmp_path: Path, case: str
) -> None:
    files = {**read_case(attention, case)}
    folder = copy_with(bundle, tmp_path / "b", {k: v for k, v in files.items() if v})
    for name in set(files) - {k for k, v in files.items() if v}:
        (folder / name).write_bytes(b"")
    assert "All public tests hold." in run_check(folder)


def test_what_a_file_remembers_lasts_as_long_as_in_grading(
    bundle: Path, attention: Assignment, tmp_path: Path
) -> None:
    files = read_case(attention, "wrong/pe-cached-by-width")
    said = run_check(copy_with(bundle, tmp_path / "b", files), "2")
    assert "the encoding has the shape (7, 12); expected (40, 12)" in said


def test_plain_pytest_says_the_same(bundle: Path, attention: Assignment, tmp_path: Path) -> None:
    folder = copy_with(bundle, tmp_path / "b", read_case(attention, "wrong/pe-transposed"))
    done = run_python(folder, "-m", "pytest", "-q")
    assert "has the shape (64, 50); expected (50, 64)" in done.stdout
    assert "6 of 8 public points; 10 hidden tests" in done.stdout
    assert not (folder / ".pytest_cache").exists()
