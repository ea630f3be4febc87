"""What has changed between two gradings: marks, and the tests that changed them."""

import json
from decimal import Decimal

import pytest
from demo_kit import write_files
from test_results import make_result, make_test

from autograder import cli, results
from autograder.changes import compare
from autograder.errors import KitError

PASSED = [make_test("scale"), make_test("heads")]
HALF = [make_test("scale"), make_test("heads", verdict="failed", points="0")]


def make_folder(path, students):
    write_files(
        path,
        {
            f"{name}/result.json": results.encode(make_result(tests, student=name))
            for name, tests in students.items()
        },
    )
    return path


@pytest.fixture
def old(tmp_path):
    return make_folder(tmp_path / "old", {"ada": HALF, "bob": PASSED, "cleo": HALF})


def test_a_changed_mark_names_the_tests_that_changed_it(old, tmp_path):
    new = make_folder(tmp_path / "new", {"ada": PASSED, "bob": PASSED, "dan": HALF})
    changes = compare(old, new)
    (ada,) = changes.students
    assert (ada.student, ada.old, ada.new, ada.gain) == (
        "ada",
        "2.5 of 5",
        "5 of 5",
        Decimal("2.5"),
    )
    (test,) = ada.tests
    assert (test.id, test.old, test.new) == ("layer::test_heads", "failed", "passed")
    assert test.gain == Decimal("2.5")
    assert (changes.added, changes.removed, changes.unchanged) == (["dan"], ["cleo"], 1)


def test_the_same_mark_for_other_reasons_is_told_apart(old, tmp_path):
    other = [make_test("scale", verdict="raised", points="0"), make_test("heads")]
    changes = compare(old, make_folder(tmp_path / "new", {"ada": other}))
    (ada,) = changes.students
    assert not ada.is_marked_otherwise
    assert [(test.old, test.new) for test in ada.tests] == [
        ("passed", "raised"), ("failed", "passed"),
    ]  # fmt: skip


def test_tests_that_come_and_go_and_scores_that_are_no_more(old, tmp_path):
    broken = results.score_exercises({"layer": Decimal(5)}, [], is_published=False)
    ungradable = make_result(
        [], student="ada", status="ungradable", reason="a PDF", score=None,
        max_score=Decimal(5), exercises=broken,
    )  # fmt: skip
    new = tmp_path / "new"
    write_files(new, {"ada/result.json": results.encode(ungradable)})
    (ada,) = compare(old, new).students
    assert (ada.old, ada.new, ada.gain) == ("2.5 of 5", "ungradable", None)
    assert {test.new for test in ada.tests} == {"not there"}


def test_two_files_can_be_compared(old, tmp_path):
    new = make_folder(tmp_path / "new", {"ada": PASSED})
    changes = compare(old / "ada/result.json", new / "ada/result.json")
    assert [change.student for change in changes.students] == ["ada"]
    assert changes.removed == []


def test_what_cannot_be_compared_is_named(old, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(KitError, match="holds no results"):
        compare(old, tmp_path / "empty")
    write_files(tmp_path / "bad", {"ada/result.json": b"{}"})
    with pytest.raises(KitError, match="damaged"):
        compare(old, tmp_path / "bad")
    other = make_result(PASSED, student="ada", assignment="other")
    write_files(tmp_path / "other", {"ada/result.json": results.encode(other)})
    with pytest.raises(KitError, match="different assignments"):
        compare(old, tmp_path / "other")


def test_the_command_lists_changes_and_counts(old, tmp_path, capsys):
    new = make_folder(tmp_path / "new", {"ada": PASSED, "bob": HALF})
    with pytest.raises(SystemExit) as stop:
        cli.main(["diff", str(old), str(new)])
    assert not stop.value.code
    assert capsys.readouterr().out.splitlines() == [
        "ada: 2.5 of 5 -> 5 of 5 (+2.5)",
        "    layer::test_heads: failed -> passed (+2.5)",
        "bob: 5 of 5 -> 2.5 of 5 (-2.5)",
        "    layer::test_heads: passed -> failed (-2.5)",
        "cleo: only in OLD",
        "2 marks changed, 0 with other verdicts only, 0 unchanged, 0 added, 1 removed.",
    ]


def test_one_changed_mark_is_counted_as_one(old, tmp_path, capsys):
    new = make_folder(tmp_path / "new", {"ada": PASSED, "bob": PASSED})
    with pytest.raises(SystemExit):
        cli.main(["diff", str(old), str(new)])
    assert "1 mark changed," in capsys.readouterr().out


def test_names_are_shown_as_text(tmp_path, capsys):
    data = json.loads(results.encode(make_result(PASSED, student="x")))
    data["student"] = "\x1b[31mx\n"
    for name in ("old", "new"):
        write_files(tmp_path / name, {"x/result.json": json.dumps(data)})
    write_files(tmp_path / "old", {"y/result.json": results.encode(make_result(HALF, student="y"))})
    with pytest.raises(SystemExit):
        cli.main(["diff", str(tmp_path / "old"), str(tmp_path / "new")])
    assert "\x1b" not in capsys.readouterr().out
