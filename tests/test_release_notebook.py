"""The notebook that students get, and the frame that other forms use."""

import ast
import json

import nbformat
import pytest
from demo_kit import make_kit

from autograder.assignment import load
from autograder.errors import KitError
from autograder.release import gradescope, nbgrader, otter
from autograder.release.leaks import find_leaks
from autograder.release.notebook import SOURCE, cell_source, student_notebook
from autograder.release.student import bundle

ATTENTION = load("attention")
SOLVED = "def f():\n    # BEGIN SOLUTION\n    return 1\n    # END SOLUTION\n"


@pytest.fixture
def demo(tmp_path):
    demo = make_kit(tmp_path)
    for exercise in demo.exercises:
        (demo.solution_dir / exercise.file).write_text(SOLVED, encoding="utf-8")
    return demo


def read(data: bytes):
    notebook = nbformat.reads(data.decode(), as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_students_get_stubs_checks_and_nothing_of_the_staffs():
    data = student_notebook(ATTENTION)
    cells = {cell.id: cell.source for cell in read(data).cells}
    for exercise in ATTENTION.exercises:
        label = f'raise NotImplementedError("attention / {exercise.id}")'
        assert label in cells[f"exercise-{exercise.id}"]
        assert cells[f"checks-{exercise.id}"] == f'check("{exercise.id}", globals())'
    assert list(find_leaks(ATTENTION, {"attention.ipynb": data})) == []
    assert data == student_notebook(ATTENTION)
    assert bundle(ATTENTION)["attention.ipynb"] == data


def test_a_solution_in_the_text_is_not_handed_out(tmp_path):
    notebook = json.loads(student_notebook(ATTENTION))
    solution = (ATTENTION.solution_dir / "multi_head_attention.py").read_text(encoding="utf-8")
    notebook["cells"][0]["source"] = solution.splitlines(keepends=True)
    leaks = list(find_leaks(ATTENTION, {"x.ipynb": json.dumps(notebook).encode()}))
    assert any("the solution of multi_head_attention.py" in leak for leak in leaks)


def test_every_code_cell_is_python():
    for cell in read(student_notebook(ATTENTION)).cells:
        if cell.cell_type == "code":
            ast.parse(cell.source)


def test_without_a_text_all_exercises_stand_below_each_other(demo):
    cells = read(student_notebook(demo)).cells
    assert [cell.id for cell in cells if cell.cell_type == "code"] == [
        "setup",
        "exercise-layer",
        "checks-layer",
        "exercise-block",
        "checks-block",
    ]
    assert cells[0].source == "# A demonstration"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('```python exercise="layre"\n```', "names the exercise 'layre'; .*layer"),
        ('```python exercise="layer"\n```', "has 0 cells for checks layer; it needs one"),
    ],
)
def test_a_text_that_does_not_fit_is_said(demo, text, said):
    (demo.public_dir / SOURCE).write_text(f"# Title\n\n{text}\n", encoding="utf-8")
    with pytest.raises(KitError, match=said):
        student_notebook(demo)


def test_a_file_becomes_a_cell(demo):
    source = (
        '"""What it is."""\n\nimport torch\nfrom layer import Layer as L\n'
        "from layer import double\n\n\nclass Block:\n    # a comment\n    pass\n"
    )
    assert cell_source(source, demo) == (
        "import torch\nL = Layer\n\n\nclass Block:\n    # a comment\n    pass"
    )


@pytest.mark.parametrize("build", [nbgrader.build_course, otter.build_master])
def test_the_same_sources_make_the_same_bytes(build):
    assert build(ATTENTION) == build(ATTENTION)


def test_what_goes_to_gradescope_is_what_grading_needs():
    names = {name for name, _ in gradescope.list_kit(ATTENTION)}
    assert {
        "requirements.lock",
        "autograder/judge.py",
        "autograder/worker/zygote.py",
        "assignments/checking/comparison.py",
        "assignments/attention/assignment.toml",
        "solutions/attention/multi_head_attention.py",
        "solutions/attention/tests/inputs.py",
        "student_template/attention/handout.md",
    } <= names
    assert not [name for name in names if "gallery/" in name or "__pycache__" in name]
    assert not [name for name in names if "modern" in name]
