"""The handout: what is graded is written into it, and a page made of it that needs no network."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder.assignment import Assignment, Exercise
from autograder.errors import KitError
from autograder.results import format_points, sum_points

GRADED = "<!-- graded tests -->"
FIGURES = "figures"


def compose(assignment: Assignment) -> str:
    """The handout's text, with the titles and points of all tests in the place of `GRADED`.

    Raises:
        KitError: it cannot be read, or a test does not say what it is worth.
    """
    path = assignment.public_dir / "handout.md"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise KitError(f"{path} cannot be read: {error.strerror}.") from None
    if GRADED not in text:
        return text
    return text.replace(GRADED, "\n".join(_list_graded(assignment)).strip())


def read_figures(assignment: Assignment) -> dict[str, str]:
    """The pictures that the handout shows, by their paths in it."""
    folder = assignment.public_dir / FIGURES
    return {
        f"{FIGURES}/{path.name}": path.read_text(encoding="utf-8")
        for path in sorted(folder.glob("*.svg"))
    }


def render(text: str, figures: Mapping[str, str]) -> str:
    """One page of HTML with everything inside.

    Raises:
        KitError: the text shows a picture that is not among `figures`.
    """
    import jinja2
    from markdown_it import MarkdownIt
    from mdit_py_plugins.anchors import anchors_plugin

    def show_picture(tokens: Any, index: int, options: Any, env: Any) -> str:
        source = tokens[index].attrs["src"]
        if source not in figures:
            raise KitError(f"the handout shows {source}, which is not there.")
        data = base64.b64encode(figures[source].encode()).decode()
        alt = str(jinja2.filters.do_forceescape(tokens[index].content))
        return f'<img src="data:image/svg+xml;base64,{data}" alt="{alt}">'

    parser = MarkdownIt("commonmark").enable("table").use(anchors_plugin, max_level=3)
    parser.renderer.rules["image"] = show_picture  # type: ignore[attr-defined]
    parser.renderer.rules["table_open"] = lambda *_: '<div class="wide"><table>'  # type: ignore[attr-defined]
    parser.renderer.rules["table_close"] = lambda *_: "</table></div>"  # type: ignore[attr-defined]
    tokens = parser.parse(text)
    for token in tokens:
        if token.type == "fence":  # a session ends with a blank line, for doctest's sake
            token.content = token.content.rstrip("\n") + "\n"
    headings = [
        (token.tag, str(token.attrs["id"]), tokens[place + 1].content)
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and "id" in token.attrs
    ]
    page = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
        Path(__file__).with_name("handout.html.j2").read_text(encoding="utf-8")
    )
    return page.render(
        title=next((content for tag, _, content in headings if tag == "h1"), ""),
        contents=[(anchor, content) for tag, anchor, content in headings if tag == "h2"],
        body=parser.renderer.render(tokens, parser.options, {}),
    )


def _list_graded(assignment: Assignment) -> Iterator[str]:
    """Yield the part of the handout that says what is graded, line by line."""
    from autograder.release.graded import list_tests

    tests = list_tests(assignment)
    for number, exercise in enumerate(assignment.exercises, 1):
        yield f"### Exercise {number}: {_lower(exercise)}\n"
        for is_hidden, kind in ((False, "public"), (True, "hidden")):
            mine = [t for t in tests if (t.exercise, t.is_hidden) == (exercise.id, is_hidden)]
            if not mine:
                continue
            points = format_points(sum_points(test.points for test in mine))
            noun = "test" if len(mine) == 1 else "tests"
            yield f"{len(mine)} {kind} {noun}, {points} points:\n"
            yield from (f"- {test.title} ({format_points(test.points)})" for test in mine)
            yield ""


def _lower(exercise: Exercise) -> str:
    """A title in the middle of a line."""
    return exercise.title[:1].lower() + exercise.title[1:]
