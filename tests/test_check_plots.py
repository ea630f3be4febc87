"""`check.py --plots`: pictures of what a student's code computes, whatever it computes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from student_folder import copy_with, read_case, read_solution, run_check

from autograder.assignment import Assignment, load

NAMES = ("encoding", "heads", "order")
PNG = b"\x89PNG\r\n"
SLOW = "import time\nfrom torch import nn\n\nclass MultiHeadAttention(nn.Module):\n"
SLOW += "    def __init__(self, *_):\n        while True:\n            pass\n"


@pytest.fixture(scope="module")
def attention() -> Assignment:
    return load("attention")


def draw(folder: Path) -> tuple[str, str]:
    """What was said, and the page; every picture is there and in the page."""
    said = run_check(folder, "--plots", MPLCONFIGDIR=str(folder / "mpl"))
    page = (folder / "plots" / "index.html").read_text(encoding="utf-8")
    for name in NAMES:
        assert (folder / "plots" / f"{name}.png").read_bytes().startswith(PNG)
    assert page.count('<img src="data:image/png;base64,') == len(NAMES)
    assert "http" not in page
    return said, page


def test_right_answers(bundle: Path, attention: Assignment, tmp_path: Path) -> None:
    said, page = draw(copy_with(bundle, tmp_path / "b", read_solution(attention)))
    assert "All entries agree with the formula." in said
    assert "Every row adds up to 1." in said
    assert "should be" not in said and "does not look" not in said
    without = re.search(r"without positions: \S+ up to (\S+)", said)
    added = re.search(r"with positions: (\S+) up to", said)
    assert without is not None and added is not None
    assert float(without[1]) < 1e-5 < 1e-2 < float(added[1])
    assert 'class="wrong"' not in page


def test_wrong_numbers_are_drawn_and_told(
    bundle: Path, attention: Assignment, tmp_path: Path
) -> None:
    files = read_case(attention, "wrong/pe-halves")
    files["multi_head_attention.py"] = read_case(attention, "wrong/mha-sigmoid")[
        "multi_head_attention.py"
    ]
    said, _ = draw(copy_with(bundle, tmp_path / "b", files))
    assert "The first entry that differs: position 0, feature 1." in said
    assert "Rows should add up to 1; yours add up to" in said


def test_the_most_frequent_mistake_is_seen(
    bundle: Path, attention: Assignment, tmp_path: Path
) -> None:
    files = read_case(attention, "wrong/mha-view-split")  # every public test passes
    said, _ = draw(copy_with(bundle, tmp_path / "b", files))
    assert "Head 0 does not look at the token before everywhere." in said
    assert "Without positions there should be rounding alone" in said


def test_code_that_stops_is_drawn_as_far_as_it_came(
    bundle: Path, attention: Assignment, tmp_path: Path
) -> None:
    files = read_case(attention, "wrong/pe-transposed")
    files["multi_head_attention.py"] = 'print("<b>")\nraise ValueError("no <b> today")\n'
    said, page = draw(copy_with(bundle, tmp_path / "b", files))
    assert "The shape is (64, 50); expected (50, 64)." in said
    assert "multi_head_attention.py cannot be imported; ValueError: no <b> today" in said
    assert page.count('class="wrong"') == 2
    assert "no &lt;b&gt; today" in page


def test_endless_loops_and_stubs(bundle: Path, tmp_path: Path) -> None:
    folder = copy_with(bundle, tmp_path / "b", {"multi_head_attention.py": SLOW})
    path = folder / "tests" / "graded.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r'_seconds": [\d.]+', '_seconds": 0.2', text), encoding="utf-8")
    said, page = draw(folder)
    assert "this takes longer than 0.4 s" in said
    assert "it needs positional_encoding, which is not yet written" in said
    assert page.count('class="wrong"') == len(NAMES)
