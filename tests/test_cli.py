"""The command line: right exit codes, words instead of tracebacks."""

import subprocess
import sys
from pathlib import Path

import pytest
from demo_kit import BLOCK, DECLARATION, LAYER, make_kit, write_files
from student_folder import run_unread
from test_grading import FakePool

from autograder import assignment, cli
from autograder import pool as real_pool
from autograder.cli import machine


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Run a command in a throw-away kit; return its exit code and what it printed."""
    kit = tmp_path / "kit"
    make_kit(kit)
    monkeypatch.chdir(kit)
    monkeypatch.setattr(assignment, "find_root", lambda start=None: kit)
    monkeypatch.setattr(real_pool, "start", lambda *arguments: FakePool()(*arguments))
    write_files(
        kit / "class", {"ada/layer.py": LAYER, "ada/block.py": BLOCK, "bob/layer.py": b"x = 1\n"}
    )

    def run(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as stop:
            cli.main(list(arguments))
        printed = capsys.readouterr()
        return int(stop.value.code or 0), printed.out + printed.err

    run.kit = kit
    return run


def test_a_class_is_graded(call):
    code, text = call("grade", "demo", "class")
    assert code == 0, text
    for wanted in ("isolation: process", "ada", "bob", "2 students: 2 graded", "mean 5 of 10"):
        assert wanted in text
    assert (call.kit / "grades/demo/grades.csv").exists()
    code, text = call("grade", "demo", "class", "--jobs", "1")
    assert code == 0
    assert "2 unchanged" in text


def test_a_fault_of_the_grader_is_exit_code_2(call):
    write_files(call.kit / "class", {"ada/layer.py": b"class ours: pass\n"})
    code, text = call("grade", "demo", "class", "--out", "out")
    assert code == 2
    assert "no score is published" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grade", "dmo", "class"], "did you mean demo"),
        (["grade", "demo", "nowhere"], "does not exist"),
        (["grade", "demo", "empty"], "holds no submissions"),
        (["grade", "demo", "pyproject.xyz"], "no submission"),
        (["grade", "demo"], "has no gallery"),
        (["grade", "demo", "class", "--only", "adda"], "did you mean ada"),
        (["grade", "demo", "class", "--out", "pyproject.xyz"], "cannot write"),
        (["grade", "demo", "class", "--out", "pyproject.xyz/deep"], "cannot write"),
        (["grade", "demo", "class", "--require-isolation", "full"], "bubblewrap"),
        (["grade", "demo", "class", "--jobs", "0"], "not in the range"),
        (["grade", "demo", "class", "--isolation", "none"], "none"),
        (["grade"], "Missing argument"),
        (["grde"], "grade"),
    ],
)
def test_a_bad_call_says_what_is_wrong(call, arguments, words):
    (call.kit / "empty").mkdir()
    (call.kit / "pyproject.xyz").write_bytes(b"")
    code, text = call(*arguments)
    assert code == 2
    assert words in text
    assert "Traceback" not in text
    assert len(text.strip().splitlines()) <= 4


def test_a_broken_declaration_is_named(call):
    (call.kit / "assignments/demo/assignment.toml").write_text(
        DECLARATION.replace("points", "pionts")
    )
    code, text = call("grade", "demo", "class")
    assert code == 2
    assert "did you mean points" in text


def test_an_unexpected_error_is_one_line_and_debug_shows_it(call, monkeypatch):
    monkeypatch.setattr(machine, "count_cores", lambda: 1 // 0)
    code, text = call("grade", "demo", "class")
    assert code == 2
    assert "Traceback" not in text
    assert "--debug" in text
    with pytest.raises(ZeroDivisionError):
        cli.main(["--debug", "grade", "demo", "class"])


def test_names_of_students_are_not_markup(call):
    write_files(call.kit / "other", {"[red]x[/red]\x1b[31m/layer.py": LAYER, "b/layer.py": LAYER})
    code, text = call("grade", "demo", "other")
    assert code == 0
    assert "\x1b" not in text


@pytest.mark.parametrize("arguments", [[], ["grade"], ["template"]])
def test_every_command_has_help_with_an_example(call, arguments):
    code, text = call(*arguments, "--help")
    assert code == 0
    assert "Example: autograder" in text


@pytest.mark.parametrize(("arguments", "code"), [(["--help"], 0), (["diff", "none", "none"], 2)])
def test_whoever_stops_reading_is_no_fault(tmp_path, arguments, code):
    assert run_unread(tmp_path, "-m", "autograder", *arguments)[0] == code
    code, said = run_unread(tmp_path, "-m", "autograder", "grade", "--help")
    assert (code, said) == (0, "")


@pytest.mark.parametrize("module", ["cli", "grading", "intake", "report", "terminal"])
def test_the_command_line_starts_without_torch(module):
    code = (
        f"import sys, autograder.{module}\n"
        "slow = {'torch', 'numpy', 'pytest', 'matplotlib', 'jupytext', 'nbformat'}\n"
        "assert not slow & set(sys.modules), slow & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(cli.__file__).parent.parent)
