"""Reports: everything a reader needs, nothing a student must not see, no text that acts."""

import csv
import hashlib
import io
import re
from base64 import b64encode
from decimal import Decimal
from html.parser import HTMLParser

import pytest
from demo_kit import make_kit
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from autograder import results
from autograder.lookalikes import Group, Lookalikes, Pair
from autograder.report import (
    ClassFacts,
    make_feedback,
    render_feedback_html,
    render_feedback_md,
    render_grades,
    render_overview,
)
from autograder.report.escaping import defuse_cell, escape_markdown, fence
from autograder.report.grades import Row
from autograder.results import Diagnosis, Result, TestResult

SECRET = "expected 0.731 at [0, 1]"
EVIL = (
    '<img src="http://evil/x.png"> ![x](http://evil/y.png) [a](javascript:alert(1))\n'
    "```\n# heading\n<script>alert(1)</script>\n````\nhttp://evil www.evil.com \x1b[31mred\x1b[0m"
    "\n{{ 7*7 }} &lt; `code` \u202e txt"
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return make_kit(tmp_path_factory.mktemp("kit"))


def make_test(name: str, verdict: str, points: str, **changes) -> TestResult:
    fields = {
        "id": f"layer::test_{name}",
        "exercise": "layer",
        "title": f"Title of {name}",
        "visibility": "hidden",
        "verdict": verdict,
        "points": points if verdict == "passed" else "0",
        "max_points": points,
        "message": "" if verdict == "passed" else f"Message of {name}",
        "staff_message": SECRET,
    }
    return TestResult(**(fields | changes))


def make_result(demo, tests: list[TestResult] | None = None, **changes) -> Result:
    if tests is None:
        tests = [
            make_test("shape", "passed", "2.5", visibility="public"),
            make_test("scale", "failed", "3"),
            make_test("heads", "failed", "1", message="Message of scale"),
            make_test("later", "skipped", "1"),
            make_test("block", "raised", "2.5", id="block::test_x", exercise="block"),
        ]
    maxima = {exercise.id: exercise.points for exercise in demo.exercises}
    fields = {
        "assignment": "demo",
        "student": "ada",
        "status": "graded",
        "reason": "",
        "score": results.sum_points(t.points for t in tests),
        "max_score": demo.points,
        "exercises": results.score_exercises(maxima, tests, is_published=True),
        "tests": tests,
        "diagnosis": [],
        "carried_forward": ["block"],
        "flags": [],
        "isolation": "full",
        "digest": "d",
    }
    return Result(**(fields | changes))


class Page(HTMLParser):
    """Collects the tags and attributes of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("href", "src", "onerror")]

    def handle_data(self, data):
        self.text += data


def test_feedback_says_what_to_fix_first_and_what_was_right(demo):
    feedback = make_feedback(make_result(demo), demo, ["block (1).py was taken as block.py"])
    layer, block = feedback.parts
    assert [f.titles for f in layer.findings] == [["Title of scale", "Title of heads"]]
    assert layer.findings[0].points == "4"
    assert layer.waiting.titles == ["Title of later"]
    assert layer.holds == ["Title of shape"]
    assert block.is_carried_forward
    for page in (render_feedback_md(feedback), Page(render_feedback_html(feedback)).text):
        wanted = ["2.5 of 10", "Message of scale", "Title of shape", "Title of later"]
        assert [text for text in wanted if text not in page] == []
        assert page.index("Title of scale") < page.index("Title of shape")
        assert page.count("Message of scale") == 1


def test_what_is_for_staff_reaches_no_student(demo):
    result = make_result(demo, flags=["uses_fused_attention"])
    feedback = make_feedback(result, demo)
    for page in (repr(feedback), render_feedback_md(feedback), render_feedback_html(feedback)):
        assert SECRET not in page
        assert "test_scale" not in page
        assert "uses_fused_attention" not in page


def test_a_fault_of_ours_is_told_as_ours(demo):
    broken = make_result(
        demo, [], status="grader_error", score=None, reason=SECRET,
        exercises=results.score_exercises({"layer": Decimal("7.5"), "block": Decimal("2.5")}, [],
                                          is_published=False),
    )  # fmt: skip
    page = render_feedback_md(make_feedback(broken, demo))
    assert "not you" in page
    assert SECRET not in page
    assert "points" not in page


def test_a_perfect_submission_is_told_so(demo):
    tests = [
        make_test("a", "passed", "7.5"),
        make_test("b", "passed", "2.5", exercise="block", id="block::b"),
    ]
    assert "Well done" in render_feedback_md(make_feedback(make_result(demo, tests), demo))


def evil_result(demo, text: str) -> Result:
    tests = [
        make_test("scale", "raised", "7.5", message=text, title=text),
        make_test("block", "failed", "2.5", id="block::x", exercise="block", message=text),
    ]
    return make_result(
        demo, tests, student=text, diagnosis=[Diagnosis(exercise="layer", faults=["x"], text=text)]
    )


def check_markdown_is_inert(page: str) -> None:
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(page)
    flat = [inner for token in tokens for inner in (token, *(token.children or []))]
    kinds = {token.type for token in flat}
    assert not kinds & {"html_block", "html_inline", "image", "link_open"}
    headings = [t for t in flat if t.type == "heading_open"]
    assert len(headings) <= 4


def test_markdown_of_a_student_stays_text(demo):
    page = render_feedback_md(make_feedback(evil_result(demo, EVIL), demo, [EVIL]))
    check_markdown_is_inert(page)
    assert "\x1b" not in page
    assert "\u202e" not in page


def evil_facts(text: str) -> ClassFacts:
    record = {"student": text, "original": text, "origin": text, "files": {}, "notes": [text]}
    record |= {"remarks": [text], "matched": text, "certainty": text, "submitted": text}
    left_out = [{"path": text, "reason": text}]
    group = Group(text, (text, "bob"))
    pair = Pair(text, (text, "bob"), 3, 0.5, 3.0)
    return ClassFacts(
        intake={"source": text, "layout": text, "submissions": [record], "left_out": left_out},
        seconds={text: 2.0},
        outdated=[text],
        lookalikes=Lookalikes([group], [pair]),
    )


def test_html_of_a_student_stays_text(demo):
    result = evil_result(demo, EVIL)
    feedback = Page(render_feedback_html(make_feedback(result, demo, [EVIL])))
    overview = Page(render_overview(demo, [Row("ada", result)], evil_facts(EVIL)))
    for page in (feedback, overview):
        assert not {"img", "h7"} & set(page.tags)
        assert page.tags.count("script") == (page is overview)
        assert not any("evil" in link or "javascript" in link for link in page.links)
        assert "\x1b" not in page.text
    assert "<script>alert(1)</script>" in feedback.text


LINES = ["\n", "\n- ", "\n# ", "\n    ", "http://e.x", "<!--", "1. ", "```", "~~~", "]("]
PIECES = st.sampled_from([*LINES, *"`[)!<>a\\&*_|"])


@given(st.lists(PIECES, max_size=14).map("".join))
def test_no_text_gets_out_of_its_place_in_markdown(demo, text):
    check_markdown_is_inert(
        render_feedback_md(make_feedback(evil_result(demo, text), demo, [text]))
    )
    (block,) = MarkdownIt().parse(fence(text))
    assert block.type == "fence"


@given(st.text(max_size=60))
def test_inline_text_shows_as_it_is(text):
    assert "\n" not in escape_markdown(text)


def test_pages_load_nothing(demo):
    feedback = render_feedback_html(make_feedback(make_result(demo), demo))
    overview = render_overview(demo, [Row("ada b", make_result(demo))], ClassFacts())
    for page in (feedback, overview):
        assert "http:" not in page
        assert "https:" not in page
        assert {link.partition("/")[2] for link in Page(page).links if link[0] != "#"} <= {
            "feedback.html"
        }
    assert 'href="ada%20b/feedback.html"' in overview


def test_a_browser_is_told_to_run_and_apply_only_what_the_page_came_with(demo):
    feedback = render_feedback_html(make_feedback(make_result(demo), demo))
    overview = render_overview(demo, [Row("ada", make_result(demo))], ClassFacts())
    for page, tags in ((feedback, ["style"]), (overview, ["style", "script"])):
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
        assert policy.startswith("default-src 'none'; ")
        assert "unsafe" not in policy
        for tag in tags:
            (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
            digest = b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "script-src 'none'" in feedback
    assert " style=" not in feedback + overview


def test_code_that_does_not_run_is_told_before_what_it_computes(demo):
    tests = [
        make_test("shape", "failed", "2.5"),
        make_test("scale", "raised", "3"),
        make_test("heads", "timed_out", "1"),
        make_test("later", "failed", "1"),
        make_test("block", "missing", "2.5", id="block::test_x", exercise="block"),
    ]
    feedback = make_feedback(make_result(demo, tests), demo)
    titles = [finding.titles[0] for finding in feedback.parts[0].findings]
    assert titles == [f"Title of {name}" for name in ("heads", "scale", "shape", "later")]
    assert feedback.first is feedback.parts[0]
    assert [part.state for part in feedback.parts] == ["not right yet", "not written yet"]


def test_one_error_is_told_once_in_the_words_of_the_public_test(demo):
    place = "(layer.py, line 3: x = y(1)"
    public = f"Your code raised NameError: y is not defined {place})"
    hidden = f"Your code raised NameError {place})."
    other = "Your code raised NameError (layer.py, line 4: z)."
    tests = [
        make_test("a", "raised", "1", visibility="public", message=public),
        *(make_test(name, "raised", "1", message=hidden) for name in "bcd"),
        make_test("e", "raised", "1", message=other),
        make_test(
            "f", "raised", "2.5", message="Your code raised ValueError (layer.py, line 3: x)."
        ),
        make_test("block", "passed", "2.5", id="block::test_x", exercise="block"),
    ]
    feedback = make_feedback(make_result(demo, tests), demo)
    told = [(len(f.titles), f.message) for f in feedback.parts[0].findings]
    assert told[:2] == [(4, public), (1, other)]
    assert len(told) == 3
    page = Page(render_feedback_html(feedback)).text
    assert "in 4 tests" in page
    assert page.count("y is not defined") == 2  # once more at the top: begin with it
    assert hidden not in page


def test_what_merely_was_not_charged_is_not_said_to_hold(demo):
    tests = [
        make_test("shape", "passed", "4.5"),
        make_test("scale", "passed", "1", message="Not charged: it fails for the mistake above."),
        make_test("heads", "failed", "2"),
    ]
    feedback = make_feedback(make_result(demo, tests), demo)
    assert feedback.parts[0].holds == ["Title of shape"]
    for page in (render_feedback_md(feedback), render_feedback_html(feedback)):
        assert "Title of scale" not in page
    assert "Nothing was found wrong" in render_feedback_html(feedback)


def read_csv(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_grades_have_a_row_of_maxima_and_blanks_where_nothing_is_published(demo):
    ungradable = make_result(
        demo, [], status="ungradable", score=None, reason="a PDF",
        exercises=results.score_exercises({"layer": Decimal("7.5"), "block": Decimal("2.5")}, [],
                                          is_published=False),
    )  # fmt: skip
    rows = [Row("ada", make_result(demo), "late"), Row("bob", ungradable), Row("cleo", None)]
    assert read_csv(render_grades(demo, rows)) == [
        ["student", "score", "max_score", "status", "late", "layer", "block"],
        ["MAXIMUM", "10", "10", "", "", "7.5", "2.5"],
        ["ada", "2.5", "10", "graded", "late", "2.5", "0"],
        ["bob", "", "10", "ungradable", "", "", ""],
        ["cleo", "", "10", "pending", "", "", ""],
    ]


def test_grades_begin_with_a_name_and_no_byte_order_mark(demo):
    data = render_grades(demo, [Row("Zoë", None)]).encode()
    assert data.startswith(b"student,score,")
    assert b"\r" not in data
    assert data.splitlines()[2].startswith("Zoë,".encode())


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", "\t=1", "a,b", 'a"b', "a\nb", "Zoë"])
def test_no_cell_is_a_formula(demo, name):
    (row,) = read_csv(render_grades(demo, [Row(name, None)]))[2:]
    assert row[0][0] not in "=+-@\t\r\n"
    assert len(row) == 7


@given(st.text())
def test_defused_cells_keep_their_text(text):
    assert defuse_cell(text).removeprefix("'") == text.removeprefix("'")
