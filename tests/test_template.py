"""What a student gets: stubs cut from the solution, and nothing else of the staff's side."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import assignment, template
from autograder.assignment import Assignment
from autograder.errors import KitError

REGION = "{i}# BEGIN SOLUTION\n{i}{line}\n{i}# END SOLUTION\n"


@pytest.fixture(scope="module")
def attention() -> Assignment:
    return assignment.load("attention", Path(__file__).resolve().parent.parent)


@pytest.fixture(scope="module")
def built(attention: Assignment) -> dict[str, str]:
    return template.build_template(attention)


def functions_in(path: Path) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def list_tests(folder: Path) -> dict[str, str]:
    """The tests of a folder and their titles, by "<exercise>::<test>"."""
    found = {}
    for path in sorted(folder.glob("test_*.py")):
        for name, node in functions_in(path).items():
            if name.startswith("test_"):
                words = {k.arg: k.value for d in node.decorator_list for k in d.keywords}
                exercise = path.stem.removeprefix("test_")
                found[f"{exercise}::{name}"] = ast.literal_eval(words["title"])
    return found


def solution_lines(text: str) -> set[str]:
    """The lines inside the markers that say something of their own."""
    lines, is_inside = set(), False
    for line in map(str.strip, text.splitlines()):
        if line.startswith((template.BEGIN, template.END)):
            is_inside = line.startswith(template.BEGIN)
        elif is_inside and len(line) > 12:
            lines.add(line)
    return lines


# --- cutting ----------------------------------------------------------------------------------


def test_a_region_becomes_one_line_at_its_own_indentation() -> None:
    source = "def f():\n    '''Doc.'''\n" + REGION.format(i="    ", line="return 1")
    wanted = "def f():\n    '''Doc.'''\n    raise NotImplementedError(\"a / b\")\n"
    assert template.cut_stub(source, "f.py", "a / b") == wanted


def test_every_region_of_a_file_is_cut() -> None:
    source = "".join(f"def {n}():\n" + REGION.format(i="    ", line="return 1") for n in "fg")
    assert template.cut_stub(source, "f.py", "a / b").count("raise NotImplementedError") == 2


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("# BEGIN SOLUTION\nx = 1\n", "without a # END SOLUTION"),
        ("x = 1\n# END SOLUTION\n", "without a # BEGIN SOLUTION"),
        ("# BEGIN SOLUTION\n# BEGIN SOLUTION\n# END SOLUTION\n", "inside the region of line 1"),
        ("x = 1\n", "nothing for a student to write"),
        ("def f(:\n" + REGION.format(i="    ", line="return 1"), "not Python"),
    ],
)
def test_markers_that_do_not_pair_up_are_the_kits_fault(source: str, words: str) -> None:
    with pytest.raises(KitError, match=words):
        template.cut_stub(source, "f.py", "a / b")


# --- privacy ----------------------------------------------------------------------------------


def test_no_line_of_a_solution_is_handed_out(attention: Assignment, built: dict[str, str]) -> None:
    handed_out = {line.strip() for text in built.values() for line in text.splitlines()}
    for exercise in attention.exercises:
        text = (attention.solution_dir / exercise.file).read_text(encoding="utf-8")
        assert solution_lines(text), f"{exercise.file} has no solution to keep"
        assert not solution_lines(text) & handed_out


def test_no_hidden_test_is_handed_out(attention: Assignment, built: dict[str, str]) -> None:
    public = {test.partition("::")[2] for test in list_tests(attention.public_tests)}
    hidden = {test.partition("::")[2] for test in list_tests(attention.hidden_tests)} - public
    assert hidden
    words = {w for text in built.values() for w in text.replace("(", " ").replace(":", " ").split()}
    assert not hidden & words


def test_nothing_but_public_files_and_what_is_made_of_them_is_handed_out(
    attention: Assignment, built: dict[str, str]
) -> None:
    public = [attention.public_dir, attention.root / "assignments" / "checking"]
    sources = {path.name: path for folder in public for path in folder.rglob("*") if path.is_file()}
    made = {"handout.md", "handout.html", f"{attention.id}.ipynb", "requirements.txt"}
    made |= {"tests/graded.json", *attention.files}
    for name, text in built.items():
        if name not in made:
            assert text == sources[Path(name).name].read_text(encoding="utf-8"), name
    assert made <= set(built)


# --- promises ---------------------------------------------------------------------------------


def test_the_handout_promises_every_test(attention: Assignment, built: dict[str, str]) -> None:
    tests = list_tests(attention.public_tests) | list_tests(attention.hidden_tests)
    missing = [title for title in tests.values() if f"- {title} (" not in built["handout.md"]]
    assert not missing


def test_the_committed_template_is_what_the_sources_build(attention: Assignment) -> None:
    assert template.stale_files(attention) == []


def test_public_tests_run_in_plain_pytest(built: dict[str, str], tmp_path: Path) -> None:
    for name, text in built.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert "not yet written" in done.stdout
    assert "0 of 15 public points" in done.stdout
    assert "Traceback" not in done.stdout
