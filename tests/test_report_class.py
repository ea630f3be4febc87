"""The class page: figures that are right, and everything that a teacher has to look at."""

import math
from decimal import Decimal

import msgspec
import pytest
from demo_kit import make_kit

from autograder import results
from autograder.assignment import find_root
from autograder.lookalikes import RUN, Group, Lookalikes, Pair
from autograder.pictures import Image, Panel, Picture
from autograder.report import ClassFacts, Row, render_overview
from autograder.report.figures import LEAST_CLASS, correlate, distribute, measure_tests
from autograder.report.overview import collect_mistakes
from autograder.results import Diagnosis, Result, TestResult


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return make_kit(tmp_path_factory.mktemp("kit"))


def make_result(demo, student: str, passed: str, *faults: str) -> Result:
    """Make a result of three tests, of which those named are passed."""
    tests = [
        TestResult(
            id=f"{exercise}::test_{name}",
            exercise=exercise,
            title=f"Title of {name}",
            visibility="hidden",
            verdict="passed" if name in passed.split() else "failed",
            points=points if name in passed.split() else "0",
            max_points=points,
        )
        for name, exercise, points in (("a", "layer", "2.5"), ("b", "layer", "5"),
                                       ("c", "block", "2.5"))
    ]  # fmt: skip
    text = f"It is {' '.join(faults)}."
    maxima = {exercise.id: exercise.points for exercise in demo.exercises}
    return Result(
        assignment="demo", student=student, status="graded", reason="",
        score=results.sum_points(test.points for test in tests), max_score=demo.points,
        exercises=results.score_exercises(maxima, tests, is_published=True), tests=tests,
        diagnosis=[Diagnosis(exercise="layer", faults=list(faults), text=text)] if faults else [],
        carried_forward=[], flags=[], isolation="full", digest="",
    )  # fmt: skip


def make_rows(demo, *passed: str) -> list[Row]:
    rows = []
    for number, names in enumerate(passed):
        student = f"s{number:02}"
        rows.append(Row(student, make_result(demo, student, names)))
    return rows


def render(demo, rows, **facts) -> str:
    return render_overview(demo, rows, ClassFacts(**facts))


def test_only_who_was_graded_counts(demo):
    rows = [*make_rows(demo, "a", "a b c"), Row("late", None)]
    (a, b, _) = measure_tests(rows)
    assert (a.passed, a.judged, a.percent) == (2, 2, 100)
    assert (b.passed, b.wrong, b.not_reached) == (1, 1, 0)
    page = render(demo, rows)
    assert "Mean 6.2, median 6.2 of 10 points; from 2.5 to 10; everything right: 1 of 2." in page
    assert "2 graded, 1 pending" in page


def test_what_was_not_reached_is_not_wrong(demo):
    result = make_result(demo, "s", "a")
    tests = [msgspec.structs.replace(t, verdict="skipped") if not t.points else t
             for t in result.tests]  # fmt: skip
    figures = measure_tests([Row("s", msgspec.structs.replace(result, tests=tests))])
    assert [(t.passed, t.wrong, t.not_reached) for t in figures] == [(1, 0, 0), *[(0, 0, 1)] * 2]


def test_every_score_has_a_bar_and_only_one():
    scores = [Decimal(n) for n in ("0", "0.9", "1", "5", "9.9", "10", "10")]
    spread = distribute(scores, Decimal(10))
    assert [bar.count for bar in spread.bars] == [2, 1, 0, 0, 0, 1, 0, 0, 0, 3]
    assert [spread.bars[0].low, spread.bars[9].high, spread.full] == ["0", "10", 2]
    assert distribute([], Decimal(10)) is None


def test_discrimination_is_the_correlation_with_all_other_points():
    passed = [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    rest = [9.0, 8.0, 7.0, 9.0, 8.0, 3.0, 2.0, 4.0, 1.0, 0.0]
    # By hand: r = (mean of who passed - mean of who did not) / sd * sqrt(p q)
    mean, sd = sum(rest) / 10, math.sqrt(sum((x - sum(rest) / 10) ** 2 for x in rest) / 10)
    expected = (sum(rest[:5]) / 5 - sum(rest[5:]) / 5) / sd * math.sqrt(0.5 * 0.5)
    assert mean == 5.1
    assert correlate(passed, rest) == round(expected, 2) == 0.94


@pytest.mark.parametrize(
    ("passed", "rest"),
    [([1.0, 0.0] * 4, [1.0, 2.0] * 4), ([1.0] * 12, [1.0, 2.0] * 6), ([1.0, 0.0] * 6, [3.0] * 12)],
    ids=["small class", "everybody passed", "no difference elsewhere"],
)
def test_where_a_correlation_says_nothing_there_is_none(passed, rest):
    assert correlate(passed, rest) is None


def test_a_test_that_the_strong_fail_is_pointed_out(demo):
    rows = make_rows(demo, *["b c"] * 8, *["a"] * 8, *["a b c"] * 2)
    doubtful = [test.title for test in measure_tests(rows) if test.is_doubtful]
    assert doubtful == ["Title of a"]
    assert "Is the test right?" in render(demo, rows)


def test_mistakes_are_counted_with_the_students_behind_them(demo):
    rows = [
        Row("ada", make_result(demo, "ada", "a", "scale")),
        Row("bob", make_result(demo, "bob", "a", "scale")),
        Row("cleo", make_result(demo, "cleo", "a", "scale", "axis")),
    ]
    mistakes = collect_mistakes(rows)
    assert [(m.faults, m.students) for m in mistakes] == [
        (["scale"], ["ada", "bob"]),
        (["scale", "axis"], ["cleo"]),
    ]
    page = render(demo, rows)
    assert page.index("It is scale.") < page.index("It is scale axis.")


def test_what_needs_a_look_is_named_first(demo):
    broken = msgspec.structs.replace(
        make_result(demo, "eve", ""), status="grader_error", score=None, reason="It broke."
    )
    weak = msgspec.structs.replace(make_result(demo, "dan", "a"), isolation="process")
    record = {"student": "ada", "original": "Ada L.", "origin": "x/Ada", "files": {"layer.py": 3},
              "notes": ["a note"], "remarks": ["a remark"], "matched": "name",
              "certainty": "likely", "submitted": "2026-01-02T03:04:05+01:00",
              "attempts": [{"origin": "x/old", "submitted": ""}]}  # fmt: skip
    rows = [Row("ada", make_result(demo, "ada", "a")), Row("bob", None, is_absent=True),
            Row("dan", weak), Row("eve", broken)]  # fmt: skip
    page = render(
        demo, rows,
        intake={"source": "class/", "layout": "canvas", "submissions": [record],
                "left_out": [{"path": "notes.txt", "reason": "nobody's"}]},
        outdated=["dan"], seconds={"ada": 0.25, "dan": 3.0, "bob": None},
        lookalikes=Lookalikes([Group("layer.py", ("ada", "dan"))],
                              [Pair("block.py", ("ada", "eve"), 9, 0.625, 5.0)]),
    )  # fmt: skip
    top = page[page.index("What needs a look") : page.index(">Scores</h2>")]
    for text in (
        "is grader error: It broke.",
        "likely, by name",
        "Of an earlier run",
        "Not all work was kept apart",
        "1 file or folder",
        "nothing was handed in: bob",
    ):
        assert text in top, text
    for text in (
        "read as canvas",
        "full (2), process (1)",
        "“Ada L.”",
        "a note; a remark",
        "does not count: x/old",
        "2026-01-02T03:04:05+01:00",
        "62 %",
        "9 passages",
    ):
        assert text in page, text
    assert "bob/feedback.html" not in page
    slowest = page[page.index(">Slowest</h2>") : page.index(">Files</h2>")]
    assert slowest.index("dan") < slowest.index("3.0") < slowest.index("ada") < slowest.index("0.2")


def test_a_class_of_nobody_and_one_of_a_thousand_are_shown(demo):
    assert "Nobody has a score yet." in render(demo, [])
    page = render(demo, make_rows(demo, *["a b", "c", ""] * 334))
    assert "1002 students" in page
    assert page == render(demo, make_rows(demo, *["a b", "c", ""] * 334))


def test_the_page_on_reports_states_what_is_so():
    page = (find_root() / "docs" / "reports.md").read_text(encoding="utf-8")
    assert f"from {LEAST_CLASS} students" in page
    assert f"fingerprints of {RUN} tokens" in page
    for struct in (Picture, Panel, Image):
        for name in set(struct.__struct_fields__) - {"title", "panels"}:
            assert f"`{name}`" in page or f".{name}`" in page, name
