"""What grading shows: tables that fit, logs that are plain, nothing that a terminal obeys."""

import io
import re
from pathlib import Path

import pytest
from demo_kit import make_kit
from rich.console import Console
from test_report import make_result

from autograder.grading import Summary
from autograder.intake.submission import Attempt, Intake, LeftOut, Submission
from autograder.report import Row
from autograder.terminal import MAX_REMARKS, MAX_ROWS, Terminal

LONG = "maria-of-the-long-name-that-never-ends-and-goes-on"
EVIL = "eve\x1b[31m[bold]:smile:"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return make_kit(tmp_path_factory.mktemp("kit"))


def make_rows(demo) -> list[Row]:
    broken = make_result(demo, student="pdf", status="ungradable", score=None, reason="A PDF only.")
    return [
        *(Row(name, make_result(demo, student=name)) for name in ("ada", LONG, "陳大文")),
        Row(EVIL, make_result(demo, student=EVIL, flags=["uses_\x00something"])),
        Row("pdf", broken),
        Row("late", None),
        Row("gone", None, is_absent=True),
    ]


def show(summary: Summary, width: int | None = None) -> list[str]:
    """Return the lines that a terminal of that width shows, or that a log gets."""
    stream = io.StringIO()
    options = {"force_terminal": True, "width": width} if width else {}
    console = Console(file=stream, highlight=False, markup=False, emoji=False, color_system=None,
                      **options)  # fmt: skip
    Terminal(console).show(summary, Path("out"))
    assert "\x1b" not in stream.getvalue()
    return stream.getvalue().splitlines()


def find(lines: list[str], start: str) -> str:
    (line,) = [line for line in lines if line.startswith(start)]
    return line


@pytest.mark.parametrize("width", [200, 80, 60])
def test_every_student_has_one_line_of_a_table_that_fits(demo, width):
    lines = show(Summary(demo, make_rows(demo)), width)
    for start, scores in [("ada", "2.5 2.5 0"), ("maria-of-the-long-nam…", "2.5 2.5 0"),
                          ("陳大文", "2.5 2.5 0"), ("eve[bold]:smile:  ", "2.5 2.5 0"),
                          ("late", "not graded yet"), ("gone", "absent")]:  # fmt: skip
        line = find(lines, start)
        assert line.split(start)[1].split() == scores.split()
        assert len(line) <= width
    assert "layer" in find(lines, "student")


def test_where_exercises_do_not_fit_the_rest_does(demo):
    lines = show(Summary(demo, make_rows(demo)), 44)
    assert find(lines, "student").split() == ["student", "score"]
    assert find(lines, "ada").split() == ["ada", "2.5"]


def test_a_log_has_names_whole_and_no_line_is_broken_or_padded(demo):
    lines = show(Summary(demo, make_rows(demo)))
    assert find(lines, LONG).split() == [LONG, "2.5", "2.5", "0"]
    assert "pdf is ungradable: A PDF only." in lines
    assert "eve[bold]:smile:: uses_something" in lines
    assert all(line == line.rstrip() for line in lines)


def test_of_a_large_class_only_those_who_need_attention_are_listed(demo):
    rows = [Row(f"s{n:03}", make_result(demo, student=f"s{n:03}")) for n in range(MAX_ROWS)]
    lines = show(Summary(demo, [*rows, *make_rows(demo)]))
    assert not [line for line in lines if line.startswith("s0")]
    assert find(lines, "pdf  ").endswith("ungradable")


def make_submission(student: str, **changes: object) -> Submission:
    fields: dict[str, object] = {
        "student": student, "original": student, "origin": f"class/{student}", "files": {},
    }  # fmt: skip
    return Submission(**(fields | changes))


def test_what_intake_was_not_sure_of_is_said(demo):
    intake = Intake(
        [
            make_submission("ada", certainty="sure", matched="id"),
            make_submission("bob", certainty="likely", matched="name"),
            make_submission("eve", certainty="unknown", remarks=["is not on the roster"]),
            make_submission("dan", attempts=[Attempt("class/old", "")]),
        ],
        [LeftOut(f"file{n}.txt", "nobody's") for n in range(MAX_REMARKS + 3)],
        layout="canvas",
        absent=["gus"],
        opened=["all.zip"],
    )
    lines = show(Summary(demo, make_rows(demo), intake=intake, left_behind=["old"]))
    for wanted in (
        "Read as canvas.",
        "The class was read from what is in all.zip.",
        "bob: class/bob is likely theirs, matched by name",
        "eve: is not on the roster",
        "1 handed in more than once: the newest counts.",
        "Handed in nothing: gus.",
        "Left out: file0.txt: nobody's",
        "... and 3 more such, in report.html.",
        "Results of earlier runs, not of this class: old.",
    ):
        assert wanted in lines, wanted
    assert not [line for line in lines if line.startswith("ada: ")]


def test_a_log_counts_and_a_terminal_says_how_long_it_will_take(demo):
    for is_terminal in (False, True):
        stream = io.StringIO()
        console = Console(file=stream, width=100, force_terminal=is_terminal, color_system=None,
                          highlight=False, markup=False, emoji=False)  # fmt: skip
        with Terminal(console) as terminal:
            terminal.begin(3, "full")
            for name in ("ada", "b\x1b[2Jb", "cleo"):
                terminal.advance(make_result(demo, student=name))
        text = stream.getvalue()
        assert "Grading 3 submissions, isolation: full" in text
        if is_terminal:
            assert re.search(r"2/3 +[\d.]+/s +[-\d:]+ left", text)
        else:
            assert text.splitlines()[1:] == [
                "1/3 ada: 2.5 of 10", "2/3 bb: 2.5 of 10", "3/3 cleo: 2.5 of 10",
            ]  # fmt: skip


def test_a_run_that_was_interrupted_says_what_to_do(demo):
    summary = Summary(demo, make_rows(demo), is_interrupted=True)
    assert "Interrupted: run the same command again to grade the rest." in show(summary)
