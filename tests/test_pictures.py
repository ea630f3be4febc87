"""Pictures: a student's own numbers beside right ones; never in the way of a verdict."""

import base64
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
import torch
from demo_kit import make_kit, write_files
from hypothesis import given
from hypothesis import strategies as st

from autograder import pictures
from autograder.assignment import Assignment, find_root, list_assignments, load
from autograder.drawing import draw, find_problems, load_pictures, make_image, make_picture
from autograder.errors import BrokenAssignment
from autograder.judge import Judge
from autograder.pictures import Image, InvalidPictures, Panel, Picture
from autograder.report.heatmap import describe_difference, encode_png, make_figure
from autograder.results import Judgement

ROOT = find_root()
WITH_PICTURES = [
    name
    for name in list_assignments(ROOT)
    if (ROOT / "assignments" / name / "pictures.py").exists()
]


class Local(SimpleNamespace):
    """A submission that needs no worker."""

    def begin_test(self) -> None: ...

    def end_test(self) -> None: ...


@pytest.mark.parametrize("name", WITH_PICTURES)
def test_every_picture_of_the_reference_is_as_it_should_be(name):
    assignment = load(name, ROOT)
    assert load_pictures(assignment)
    assert list(find_problems(assignment)) == []


def test_attention_has_pictures():
    assert "attention" in WITH_PICTURES


# --- through the judge ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def attention() -> Assignment:
    declared = load("attention", ROOT)
    limits = msgspec.structs.replace(declared.limits, test_wall_seconds=1.0)
    return msgspec.structs.replace(declared, limits=limits)


@pytest.fixture(scope="module")
def judge(attention, warm_station) -> Iterator[Judge]:
    judge = Judge(attention, warm_station)
    yield judge
    judge.close()


def read_files(attention: Assignment, **changed: str) -> dict[str, str]:
    files = {name: (attention.solution_dir / name).read_text() for name in attention.files}
    return files | {f"{name}.py": text for name, text in changed.items()}


def judge_changed(judge: Judge, name: str, old: str, new: str) -> Judgement:
    files = read_files(judge.assignment)
    text = files[f"{name}.py"]
    assert old in text
    return judge.judge(files | {f"{name}.py": text.replace(old, new)})


def test_right_work_needs_no_picture(judge):
    judgement = judge.judge(read_files(judge.assignment))
    assert {test.verdict for test in judgement.tests} == {"passed"}
    assert judgement.pictures == b""


def test_a_mistake_can_be_seen_and_the_same_mistake_is_the_same_bytes(judge):
    change = ("multi_head_attention", "scores.softmax(dim=-1)", "scores.tril().softmax(dim=-1)")
    judgement = judge_changed(judge, *change)
    (picture,) = pictures.decode(judgement.pictures)
    assert picture.exercise == "multi_head_attention"
    assert len(picture.panels) == 3
    assert all("differ" in describe_difference(panel) for panel in picture.panels)
    assert judge_changed(judge, *change).pictures == judgement.pictures


def test_a_table_of_the_wrong_shape_is_shown_as_it_is(judge):
    judgement = judge_changed(judge, "positional_encoding", ".flatten(1)", ".flatten(1).T")
    (picture,) = pictures.decode(judgement.pictures)
    (panel,) = picture.panels
    assert (panel.yours.rows, panel.yours.columns) == (panel.expected.columns, panel.expected.rows)
    assert describe_difference(panel) == "It should be 48 by 32."


HOSTILE = {
    "raises": "raise RuntimeError('for pictures only')",
    "exits": "import os; os._exit(0)",
    "never ends": "\n        while True:\n            pass",
    "answers with words": "return 'forty-eight by thirty-two'",
    "answers with far too much": "return torch.zeros(3000, 3000)",
    "answers with nothing": "return torch.zeros(0, 32)",
    "answers with complex numbers": "return torch.zeros(48, 32, dtype=torch.complex64)",
}


LINE = "    position = torch.arange("
MISTAKEN = "    position = 1 + torch.arange("


@pytest.fixture(scope="module")
def plain(judge) -> Judgement:
    """What is said of positions that are counted from 1."""
    return judge_changed(judge, "positional_encoding", LINE, MISTAKEN)


@pytest.mark.parametrize("trick", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_trick_with_a_picture_changes_a_verdict(judge, plain, trick):
    """The same mistake; only for the picture's sizes the code does something else."""
    guarded = f"    if (max_len, d_model) == (48, 32):\n        {trick}\n{MISTAKEN}"
    tricked = judge_changed(judge, "positional_encoding", LINE, guarded)
    assert pictures.decode(plain.pictures)
    assert tricked.pictures == b""
    assert tricked.tests == plain.tests
    assert tricked.diagnosis == plain.diagnosis


def test_nothing_that_a_hidden_test_has_shown_can_be_painted(judge):
    """A table that remembers what it was asked for, and shows 1 where it remembers anything."""
    spying = """    if (max_len, d_model) == (48, 32):
        return torch.full((48, 32), 1.0 if seen else -1.0)
    seen.append((max_len, d_model))
"""
    files = read_files(judge.assignment)
    source = files["positional_encoding.py"].replace(LINE, spying + MISTAKEN)
    source = source.replace("def positional_encoding", "seen = []\n\n\ndef positional_encoding")
    judgement = judge.judge(files | {"positional_encoding.py": source})
    (picture,) = pictures.decode(judgement.pictures)
    assert set(picture.panels[0].yours.levels) == {1}
    assert any(test.verdict == "failed" for test in judgement.tests)


# --- an author's file -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source", ["1 / 0", "import nothing_of_that_name", "", "PICTURES = []", "PICTURES = {'x': []}"]
)
def test_a_broken_file_is_named_to_the_author(tmp_path, source):
    demo = make_kit(write_files(tmp_path, {"assignments/demo/pictures.py": source}))
    with pytest.raises(BrokenAssignment, match=r"assignments/demo/pictures\.py"):
        load_pictures(demo)


WRONG = """
def nothing(submission):
    return {"title": "no panels"}

def other(submission):
    words = dict.fromkeys(("title", "caption", "rows", "columns"), "x")
    return words | {"range": (0, 9), "panels": [("", [[submission.double(2)]], [[5]])]}

PICTURES = {"layer": [nothing, other]}
"""


def test_pictures_that_do_the_reference_wrong_are_named_to_the_author(tmp_path):
    demo = make_kit(write_files(tmp_path, {"assignments/demo/pictures.py": WRONG}))
    problems = list(find_problems(demo))
    assert [problem.split(" the reference")[0] for problem in problems] == [
        "pictures.py: nothing draws nothing of",
        "pictures.py: other shows",
    ]


def test_an_assignment_may_have_no_pictures(tmp_path):
    demo = make_kit(tmp_path)
    assert load_pictures(demo) == {}
    assert list(find_problems(demo)) == []


def test_a_picture_that_fails_leaves_the_others(tmp_path):
    def fail(submission):
        raise AssertionError("not this one")

    def show(submission):
        return {
            "title": "t", "caption": "c", "rows": "r", "columns": "c", "range": (0, 1),
            "panels": [("", [[0.0, 1.0]], [[0.0, 1.0]])],
        }  # fmt: skip

    assert [p.title for p in draw("x", [fail, show, fail, show], Local())] == ["t", "t"]


# --- data and images ------------------------------------------------------------------------------


def test_numbers_become_levels():
    value = torch.tensor([[-1.0, 0.0, 1.0], [-9.0, 9.0, float("nan")]])
    image = make_image(value, -1.0, 1.0)
    assert (image.rows, image.columns, list(image.levels)) == (2, 3, [1, 128, 255, 1, 255, 0])
    assert make_image((value.unsqueeze(0), "weights"), -1.0, 1.0) == image
    assert make_image(value.double().numpy(), -1.0, 1.0) == image


def make_example(levels: bytes = bytes([1, 255]), **changes: object) -> Picture:
    image = Image(rows=1, columns=len(levels), levels=levels)
    panel = Panel(title="", yours=image, expected=Image(rows=1, columns=2, levels=bytes([1, 255])))
    fields: dict[str, object] = {
        "exercise": "layer", "title": "T", "caption": "C", "rows": "r", "columns": "c",
        "low": 0.0, "high": 1.0, "panels": [panel],
    }  # fmt: skip
    return Picture(**(fields | changes))  # type: ignore[arg-type]


@given(st.binary(min_size=1, max_size=40))
def test_pictures_are_read_as_they_were_written(levels):
    example = [make_example(levels)]
    assert pictures.decode(pictures.encode(example)) == example


def test_no_pictures_are_no_bytes():
    assert pictures.encode([]) == b""
    assert pictures.decode(b"") == []


@pytest.mark.parametrize("change", [b"{}", b"\xff", b"[1]"])
def test_what_is_no_picture_is_refused(change):
    with pytest.raises(InvalidPictures):
        pictures.decode(change)
    whole = pictures.encode([make_example()])
    with pytest.raises(InvalidPictures):
        pictures.decode(whole.replace(b'"rows": 1', b'"rows": 2'))


def read_png(address: str) -> tuple[int, int, bytes, list[bytes]]:
    """Take a PNG apart by the standard: its width, height, palette and lines of pixels."""
    data = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        (check,) = struct.unpack(">I", data[at + 8 + length : at + 12 + length])
        assert check == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    raw = zlib.decompress(chunks[b"IDAT"])
    lines = [raw[n + 1 : n + 1 + width] for n in range(0, len(raw), width + 1)]
    return width, height, chunks[b"PLTE"], lines


@pytest.mark.parametrize("is_signed", [True, False])
def test_an_image_is_a_png_of_these_pixels(is_signed):
    image = Image(rows=2, columns=3, levels=bytes([1, 128, 255, 0, 7, 200]))
    width, height, palette, lines = read_png(encode_png(image, is_signed))
    assert (width, height, len(palette)) == (3, 2, 3 * 256)
    assert lines == [bytes([1, 128, 255]), bytes([0, 7, 200])]
    white = 128 if is_signed else 1
    assert palette[3 * white : 3 * white + 3] == b"\xff\xff\xff"


def test_a_figure_says_in_words_what_it_shows():
    figure = make_figure(make_example(bytes([1, 9]), low=-1.0))
    (comparison,) = figure.comparisons
    assert comparison.yours.words == (
        "yours, 1 by 2 numbers (r by c)."
        " 1 of 2 differ from the right ones, the first at row 0, column 1."
    )
    assert comparison.expected is not None
    same = make_figure(make_example())
    assert same.comparisons[0].expected is None
    assert make_figure(make_example(bytes([0, 255]))).has_strange


def test_too_many_panels_are_no_picture():
    panel = ("", [[0.0]], [[0.0]])
    drawn = {"title": "", "caption": "", "rows": "", "columns": "", "range": (0, 1)}
    with pytest.raises(ValueError, match="panels"):
        make_picture("x", {**drawn, "panels": [panel] * 13})


def test_the_page_holds_the_picture(tmp_path: Path):
    from test_report import make_result

    from autograder.report import make_feedback, render_feedback_html, render_feedback_md

    demo = make_kit(tmp_path)
    picture = make_example(bytes([1, 9]), title="<b>", caption="<script>alert(1)</script>")
    feedback = make_feedback(make_result(demo), demo, [], [picture])
    page = render_feedback_html(feedback)
    assert page.count("<img") == 3
    assert "<b>" not in page and "<script" not in page
    assert "feedback.html" in render_feedback_md(feedback)
