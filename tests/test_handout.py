"""The handout: its numbers and pictures are what the reference makes, and its page stands alone."""

from __future__ import annotations

import base64
import doctest
import importlib.util
import io
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest

from autograder import handout
from autograder.assignment import Assignment, find_root, list_assignments, load
from autograder.errors import KitError

NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
PIXELS = 3.0  # by which a point of a picture may move from machine to machine


@pytest.fixture(scope="module")
def attention() -> Assignment:
    return load("attention")


@pytest.fixture(scope="module")
def text(attention: Assignment) -> str:
    return handout.compose(attention)


@pytest.fixture(scope="module")
def page(attention: Assignment, text: str) -> str:
    return handout.render(text, handout.read_figures(attention))


@pytest.fixture
def own_modules() -> object:
    """Lets a test import the reference's modules by their plain names, and forgets them."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if "." not in name:
            del sys.modules[name]


def import_figures(assignment: Assignment) -> ModuleType:
    path = assignment.solution_dir / "figures.py"
    spec = importlib.util.spec_from_file_location("figures", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Outline(HTMLParser):
    """What a page refers to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        if found.get("id"):
            self.ids.add(str(found["id"]))
        if tag == "a":
            self.links.append(str(found["href"]))
        if tag == "img":
            self.images.append(found)


# --- numbers and pictures -----------------------------------------------------------------------


@pytest.mark.parametrize("assignment_id", list_assignments(find_root()))
def test_every_number_is_what_comes_out(assignment_id: str, own_modules: object) -> None:
    declared = load(assignment_id)
    sys.path.insert(0, str(declared.solution_dir))
    said = io.StringIO()
    text = handout.compose(declared)
    examples = doctest.DocTestParser().get_doctest(text, {}, "handout.md", "handout.md", 0)
    result = doctest.DocTestRunner().run(examples, out=said.write)
    assert result.failed == 0, said.getvalue()
    assert result.attempted > 40 or assignment_id != "attention"


def test_every_picture_is_what_is_drawn(
    attention: Assignment, tmp_path: Path, own_modules: object
) -> None:
    import_figures(attention).main(tmp_path)
    kept = handout.read_figures(attention)
    assert {f"figures/{path.name}" for path in tmp_path.iterdir()} == set(kept)
    for name, was in kept.items():
        now = (tmp_path / Path(name).name).read_text(encoding="utf-8")
        assert look(now)[0] == look(was)[0], f"{name}: run python solutions/attention/figures.py"
        for mine, theirs in zip(look(now)[1], look(was)[1], strict=True):
            assert abs(mine - theirs) < PIXELS, name
        assert images_in(now) == pytest.approx(images_in(was), abs=3), name


def look(svg: str) -> tuple[str, list[float]]:
    """A picture's text without numbers and bitmaps, and its numbers."""
    without = re.sub(r'"data:image/png;base64,[^"]*"', '""', svg)
    without = re.sub(r'(id|href|url|clip-path)="[^"]*"', "", without)
    return NUMBER.sub("0", without), [float(number) for number in NUMBER.findall(without)]


def images_in(svg: str) -> list[int]:
    """The bytes of all points of a picture's bitmaps."""
    from PIL import Image

    points: list[int] = []
    for data in re.findall(r'"data:image/png;base64,([^"]*)"', svg):
        points += Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB").tobytes()[::97]
    return points


def test_limits_and_points_are_those_of_the_declaration(attention: Assignment, text: str) -> None:
    limits = attention.limits
    assert f"A file has {limits.import_wall_seconds:g} seconds to be imported" in text
    assert f"a test {limits.test_wall_seconds:g} seconds" in text
    assert f"{limits.cpu_seconds:g} seconds of processor time" in text
    assert f"{limits.memory_mib // 1024} GiB of memory" in text
    from autograder.judge import MAX_TESTS

    assert f"of an exercise {MAX_TESTS * limits.test_wall_seconds:g} seconds" in text
    for number, exercise in enumerate(attention.exercises, 1):
        written = exercise.student_writes[0]
        assert f"| {number} | `{exercise.file}` | {exercise.points} | `{written}` |" in text


# --- the page -----------------------------------------------------------------------------------


def test_the_page_needs_nothing_else(page: str) -> None:
    outline = Outline(page)
    assert all(str(image["src"]).startswith("data:image/svg+xml") for image in outline.images)
    assert all(image["alt"] for image in outline.images)
    assert len(outline.images) == 5
    assert not {"script", "link", "iframe"} & set(outline.tags)
    assert [link for link in outline.links if link.removeprefix("#") not in outline.ids] == []
    assert "http" not in page.replace("http://www.w3.org", "")


def test_pages_are_the_same_every_time(attention: Assignment, text: str, page: str) -> None:
    assert handout.render(text, handout.read_figures(attention)) == page


def test_a_picture_that_is_not_there_is_said() -> None:
    with pytest.raises(KitError, match="shows figures/none.svg, which is not there"):
        handout.render("![nothing](figures/none.svg)\n", {})


def test_html_in_alternative_texts_is_text() -> None:
    made = handout.render('![a "b" <c>](figures/a.svg)\n', {"figures/a.svg": "<svg/>"})
    assert 'alt="a &#34;b&#34; &lt;c&gt;"' in made
