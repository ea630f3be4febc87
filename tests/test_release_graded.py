"""Graded tests, read from their files and made to stand alone."""

import json
import subprocess
import sys

import pytest
from demo_kit import make_kit

from autograder.assignment import load
from autograder.cells import name_cells
from autograder.errors import KitError
from autograder.release.graded import StandAlone, indent, list_tests
from autograder.release.nbgrader import helper_files, supply_lines
from autograder.release.notebook import cell_source
from autograder.results import TestResult
from autograder.session import Session
from autograder.template import build_stubs

ATTENTION = load("attention")
TESTS = list_tests(ATTENTION)


@pytest.fixture(scope="module")
def session():
    running = Session(ATTENTION)
    yield running
    running.close()


def test_what_the_files_say_is_what_pytest_collects(session):
    said = [(t.id, t.title, t.hint, t.points, t.is_hidden) for t in TESTS]
    assert said == [(t.id, t.title, t.hint, t.points, t.is_hidden) for t in session.tests]


def test_cells_are_named_alike_before_and_after_grading(session):
    judged = [
        TestResult(
            id=test.id,
            exercise=test.exercise,
            title=test.title,
            visibility="hidden" if test.is_hidden else "public",
            verdict="failed",
            points="0",
            max_points=test.points,
        )
        for test in session.tests
    ]
    assert [cell for cell, _ in name_cells(judged)] == [test.cell for test in TESTS]
    assert len({test.cell for test in TESTS}) == len(TESTS)


def test_names_of_cells_tell_nothing_of_hidden_tests():
    for test in TESTS:
        assert test.name not in test.cell


NATIVE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import checking.cells
job = json.load(sys.stdin)
for exercise, source in job["right"]:
    checking.cells.supply(exercise, source)
hidden = {}
for test, source in job["hidden"].items():
    names = {"checking": checking}
    exec(source, names)
    hidden[test] = names["_hidden"]()
passed = {}
for student, sources in job["work"].items():
    checking.cells._perfect.clear()
    namespace = {"__name__": "__main__", "In": sources}
    for source in sources:
        exec(source, namespace)
    passed[student] = []
    for exercise, test in job["tests"]:
        try:
            if test in hidden:
                checking.cells.judge(exercise, hidden[test], namespace, "Title", "Hint?")
            else:
                checking.cells.run(test, namespace)
            passed[student].append(test)
        except checking.cells.NotYet as error:
            assert str(error).startswith("Not there yet: ")
            assert error._render_traceback_() == str(error).splitlines()
            assert test not in hidden or str(error).count("\\n") <= 2, error
json.dump(passed, sys.stdout)
"""


@pytest.fixture(scope="module")
def passed(tmp_path_factory):
    """Which tests pass in a process of their own, as notebooks run them."""
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "checking").mkdir()
    for name, data in helper_files(ATTENTION).items():
        (folder / "checking" / name).write_bytes(data)
    alone = StandAlone(ATTENTION)
    stubs = build_stubs(ATTENTION)
    right = {
        e.file: (ATTENTION.solution_dir / e.file).read_text(encoding="utf-8")
        for e in ATTENTION.exercises
    }
    spoilt = right["multi_head_attention.py"].replace("math.sqrt(self.d_k)", "1.0")
    assert spoilt != right["multi_head_attention.py"]
    work = {
        "right": right,
        "stubs": stubs,
        "unscaled": {**right, "multi_head_attention.py": spoilt},
        "one": {**stubs, "attention_block.py": right["attention_block.py"]},
    }
    job = {
        "right": [(e.id, cell_source(right[e.file], ATTENTION)) for e in ATTENTION.exercises],
        "tests": [(test.exercise, test.id) for test in TESTS],
        "hidden": {
            test.id: f"def _hidden():\n{indent(alone.source_of(test))}\n    return {test.name}\n"
            for test in TESTS
            if test.is_hidden
        },
        "work": {
            student: [cell_source(text, ATTENTION) for text in files.values()]
            for student, files in work.items()
        },
    }
    command = [sys.executable, "-c", NATIVE, str(folder)]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_right_work_passes_every_test_that_stands_alone(passed):
    assert passed["right"] == [test.id for test in TESTS]


def test_stubs_pass_none(passed):
    assert passed["stubs"] == []


def test_a_mistake_is_found_and_costs_nothing_in_an_exercise_that_builds_on_it(passed):
    lost = {test.id for test in TESTS} - set(passed["unscaled"])
    assert "multi_head_attention::test_divisor" in lost
    assert {test.split("::")[0] for test in lost} == {"multi_head_attention"}
    block = {test.id for test in TESTS if test.exercise == "attention_block"}
    assert set(passed["one"]) == block


def test_right_values_are_put_down_for_those_exercises_that_use_others():
    lines = supply_lines(ATTENTION)
    assert lines["multi_head_attention"] == "" and "# BEGIN SOLUTION" not in str(lines)
    assert lines["attention_block"].count("checking.cells.supply(") == 2


@pytest.fixture
def demo(tmp_path):
    demo = make_kit(tmp_path)
    mark = '@pytest.mark.graded(points="{}", title="It is so", hint="Is it?")\n'
    test = "import pytest\n" + mark + "def test_so(submission):\n    assert submission\n"
    (demo.public_tests / "test_layer.py").write_text(test.format("2.5"), encoding="utf-8")
    (demo.hidden_tests / "test_layer.py").write_text(test.format("5"), encoding="utf-8")
    (demo.hidden_tests / "test_block.py").write_text(test.format("2.5"), encoding="utf-8")
    stub = "def f():\n    # BEGIN SOLUTION\n    return 1\n    # END SOLUTION\n"
    for exercise in demo.exercises:
        (demo.solution_dir / exercise.file).write_text(stub, encoding="utf-8")
    return demo


def test_points_must_be_those_of_the_declaration(demo):
    assert [str(test.points) for test in list_tests(demo)] == ["2.5", "5", "2.5"]
    path = demo.hidden_tests / "test_block.py"
    path.write_text(path.read_text(encoding="utf-8").replace("2.5", "3"), encoding="utf-8")
    with pytest.raises(KitError, match="worth 3 points; assignment.toml says 2.5"):
        list_tests(demo)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def test_x(submission): pass", "no @pytest.mark.graded"),
        ("@pytest.mark.graded(points=POINTS)\ndef test_x(submission): pass", "of plain texts"),
        ("def test_x(:", "cannot be read as Python"),
    ],
)
def test_a_mark_that_cannot_be_read_is_said(demo, text, said):
    (demo.hidden_tests / "test_block.py").write_text(text, encoding="utf-8")
    with pytest.raises(KitError, match=said):
        list_tests(demo)


def test_helpers_of_one_name_are_refused(demo):
    (demo.hidden_tests / "one.py").write_text("def same(): return other()\ndef other(): pass\n")
    (demo.hidden_tests / "two.py").write_text("def other(): pass\n")
    mark = '@pytest.mark.graded(points="2.5", title="t")\n'
    (demo.hidden_tests / "test_block.py").write_text(
        f"import pytest\nfrom one import same\nfrom two import other\n{mark}"
        "def test_so(submission):\n    same()\n    other()\n"
    )
    test = list_tests(demo)[-1]
    with pytest.raises(KitError, match="other is defined in two hidden test files"):
        StandAlone(demo).source_of(test)
