"""autograder export and diff: right exit codes, words for bad calls, nothing overwritten."""

import csv

import pytest
from demo_kit import BLOCK, LAYER, make_kit, write_files
from lms_archives import make_canvas_gradebook, make_class, make_moodle_worksheet
from test_grading import FakePool

from autograder import assignment, cli
from autograder.grading import grade_class
from autograder.roster import make_roster
from autograder.sheet import parse_sheet

PEOPLE = make_class()[:4]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A throw-away kit with a graded class of two out of four."""
    home = tmp_path_factory.mktemp("home")
    demo = make_kit(home)
    write_files(
        home,
        {
            "class/s000/layer.py": LAYER,
            "class/s000/block.py": BLOCK,
            "class/s001/layer.py": LAYER,
            "gradebook.csv": make_canvas_gradebook(PEOPLE),
            "worksheet.csv": make_moodle_worksheet(PEOPLE),
            "broken.csv": b'a,"b\n',
            "wrong.csv": b"a,b\n1,2\n",
            "roster.csv": b"id,extension\ns000,\n",
        },
    )
    roster = make_roster(parse_sheet(make_canvas_gradebook(PEOPLE), "gradebook.csv"))
    grade_class(demo, home / "class", home / "grades/demo", roster=roster, start=FakePool())
    return home


@pytest.fixture
def call(home, monkeypatch, capsys):
    monkeypatch.chdir(home)
    monkeypatch.setattr(assignment, "find_root", lambda start=None: home)

    def run(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as stop:
            cli.main(list(arguments))
        printed = capsys.readouterr()
        return int(stop.value.code or 0), printed.out + printed.err

    return run


def test_a_dry_run_says_what_would_change_and_writes_nothing(call, home):
    before = sorted(home.iterdir())
    code, text = call("export", "canvas", "demo", "gradebook.csv", "--dry-run")
    assert (code, text.splitlines()) == (
        0,
        [
            "Lovelace, Ada: blank -> 10.00",
            "Ångström, Zoë: blank -> 7.50",
            "Dry run, nothing written. A demonstration (4711):"
            " 2 cells change, 0 marks stay as they are.",
        ],
    )
    assert sorted(home.iterdir()) == before


def test_the_given_table_is_never_written(call, home):
    data = (home / "gradebook.csv").read_bytes()
    code, text = call("export", "canvas", "demo", "gradebook.csv", "--out", "./gradebook.csv")
    assert code == 2
    assert "Name another file" in text
    code, text = call("export", "canvas", "demo", "gradebook.csv", "--missing-as-zero")
    assert code == 0
    assert "blank -> 0.00 (nothing was handed in)" in text
    assert (home / "gradebook.csv").read_bytes() == data
    assert (home / "gradebook-filled.csv").read_bytes().count(b",0.00,") == 2


def test_a_table_for_excel_has_its_mark(call, home):
    assert call("export", "csv", "demo", "--out", "marks.csv", "--excel")[0] == 0
    assert (home / "marks.csv").read_bytes().startswith(b"\xef\xbb\xbfstudent,")
    assert call("export", "csv", "demo", "--out", "marks.csv")[0] == 0
    assert (home / "marks.csv").read_bytes().startswith(b"student,")


def test_a_table_has_a_zero_for_nothing_handed_in_when_asked_to(call, home):
    def read(*options: str) -> dict[str, tuple[str, str, str]]:
        assert call("export", "csv", "demo", "--out", "marks.csv", *options)[0] == 0
        rows = csv.DictReader((home / "marks.csv").read_text(encoding="utf-8").splitlines())
        return {row["student"]: (row["status"], row["score"], row["mark"]) for row in rows}

    plain, zeroed = read(), read("--missing-as-zero")
    absent = {student for student, (status, *_) in plain.items() if status == "absent"}
    assert len(absent) == 2
    assert {plain[student] for student in absent} == {("absent", "", "")}
    assert {zeroed[student] for student in absent} == {("absent", "", "0.00")}
    assert all(zeroed[student] == plain[student] for student in plain.keys() - absent)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["canvas", "dmo", "gradebook.csv"], "did you mean demo"),
        (["canvas", "demo", "none.csv"], "none.csv cannot be read"),
        (["canvas", "demo", "class"], "class cannot be read"),
        (["canvas", "demo", "broken.csv"], "never closed"),
        (["canvas", "demo", "wrong.csv"], "not a gradebook"),
        (["canvas", "demo", "gradebook.csv", "--column", "x"], "no column 'x'"),
        (["canvas", "demo", "gradebook.csv", "--grades", "class"], "holds no graded class"),
        (["canvas", "demo", "gradebook.csv", "--roster", "wrong.csv"], "is no roster"),
        (["canvas", "demo", "gradebook.csv", "--out", "none/x.csv"], "cannot write"),
        (["moodle", "demo", "wrong.csv"], "not a grading worksheet"),
        (["moodle", "demo", "worksheet.csv", "--column", "Noten"], "no column 'Noten'"),
        (["csv", "demo"], "Missing option '--out'"),
        (["csv", "demo", "--out", "class"], "cannot write"),
        (["feedback", "demo", "--lms", "canvas", "--out", "x.zip"], "nothing was written"),
        (["feedback", "demo", "--lms", "folders", "--out", "class"], "no regular file"),
        (["feedback", "demo", "--lms", "blackboard", "--out", "x.zip"], "blackboard"),
        (["cavnas", "demo"], "cavnas"),
    ],
)
def test_a_bad_call_says_what_is_wrong(call, arguments, words):
    code, text = call("export", *arguments)
    assert code == 2
    assert words in text
    assert "Traceback" not in text


@pytest.mark.parametrize("arguments", [["none", "class"], ["class", "none"], ["class", "class"]])
def test_a_bad_comparison_says_what_is_wrong(call, arguments):
    code, text = call("diff", *arguments)
    assert code == 2
    assert "does not exist" in text or "holds no results" in text


@pytest.mark.parametrize(
    "arguments",
    [["export"], ["export", "canvas"], ["export", "moodle"], ["export", "csv"],
     ["export", "feedback"], ["diff"]],
)  # fmt: skip
def test_every_command_has_help_with_an_example(call, arguments):
    code, text = call(*arguments, "--help")
    assert code == 0
    assert "Example: autograder" in text
