"""`check.py --plots`: pictures made by your own code, as PNG files and on one page.

The assignment's `checker/plots.py` draws them. Each function of it whose name begins with `draw_`
is one picture: it gets an empty `matplotlib` figure and your work (`submission.Name`), and may
return lines that are put under the picture. The first line of its docstring is the title, the
rest says what to look for. When your code stops it, the picture is kept as far as it came and
says why.
"""

from __future__ import annotations

import base64
import html
import inspect
import io
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from checker import words
from checker.folder import ASSIGNMENT, FOLDER, TESTS, Problem
from checker.judge import Printed, quiet

PLOTS = FOLDER / "plots"
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}: your pictures</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; color: #1b1b1f; background: #fff;
        max-width: 60rem; margin: 0 auto; padding: 1rem; }}
h2 {{ margin: 2.5rem 0 .25rem; }}
img {{ width: 100%; height: auto; border: 1px solid #d0d0d7; border-radius: .3rem; }}
ul {{ padding-left: 1.2rem; }}
.wrong {{ color: #a4161a; font-weight: 600; }}
</style>
</head>
<body>
<h1>{title}: your pictures</h1>
<p>Made by the code in this folder. They are no test: what is graded, the handout says.</p>
{pictures}
</body>
</html>
"""
PART = """<section>
<h2>{title}</h2>
<p>{text}</p>
<img src="data:image/png;base64,{png}" alt="{title}">
{remarks}
</section>"""


class Picture(NamedTuple):
    """A finished picture."""

    name: str
    title: str
    text: str
    png: bytes
    remarks: list[str]
    trouble: str  # what stopped it, if anything did


def draw_all() -> int:
    """Draw every picture into the folder `plots`."""
    style = words.Style(sys.stdout)
    pictures = list(draw(FOLDER / "checker" / "plots.py"))
    PLOTS.mkdir(exist_ok=True)
    parts = []
    for picture in pictures:
        (PLOTS / f"{picture.name}.png").write_bytes(picture.png)
        parts.append(_render(picture))
        kind = "bad" if picture.trouble else "good"
        print(f"{style.mark(kind)} plots/{picture.name}.png  {picture.title}")
        for line in [*picture.remarks, *([picture.trouble] if picture.trouble else [])]:
            print(f"     {line}")
    title = html.escape(ASSIGNMENT["title"])
    page = PAGE.format(title=title, pictures="\n".join(parts))
    (PLOTS / "index.html").write_text(page, encoding="utf-8")
    print(f"All of them: {PLOTS / 'index.html'}")
    return 0


def draw(source: Path) -> Iterator[Picture]:
    """Yield the pictures that the functions in `source` draw.

    Raises:
        Problem: there are none, or matplotlib is not installed.
    """
    if not source.is_file():
        raise Problem("There are no pictures for this assignment.")
    try:
        import matplotlib
    except ImportError:
        raise Problem("Pictures need matplotlib: pip install -r requirements.txt") from None
    matplotlib.use("Agg")
    sys.path.insert(0, str(TESTS))
    import importlib.util

    spec = importlib.util.spec_from_file_location("plots", source)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, function in vars(module).items():
        if name.startswith("draw_"):
            yield draw_one(name.removeprefix("draw_"), function)


def draw_one(name: str, function: Callable[..., Any]) -> Picture:
    """Draw one picture, whatever the code that it needs does."""
    from explanation import judge
    from matplotlib.figure import Figure
    from student_files import Submission, only_handed_in, settings_kept
    from time_limit import TimeLimit, TooSlow

    seconds = ASSIGNMENT["import_seconds"] + ASSIGNMENT["test_seconds"]
    figure = Figure(figsize=(10, 5), dpi=110, layout="constrained")
    remarks: list[str] = []
    trouble = ""
    with pytest.MonkeyPatch.context() as patch, only_handed_in(), settings_kept():
        try:
            with quiet(Printed()), TimeLimit(seconds, f"this takes longer than {seconds:g} s"):
                remarks = list(function(figure, Submission(patch)) or [])
        except (Exception, SystemExit, TooSlow) as error:
            trouble = "; ".join(judge("", error)[1])
    if trouble:
        label = "\n".join(textwrap.wrap(f"Drawn as far as it came: {trouble}", 100))
        figure.suptitle(label, color="#a4161a", fontsize=11)
    figure.supxlabel("\n".join(textwrap.fill(line, 120) for line in remarks), fontsize=9)
    title, _, text = (inspect.getdoc(function) or name).partition("\n")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return Picture(name, title, " ".join(text.split()), buffer.getvalue(), remarks, trouble)


def _render(picture: Picture) -> str:
    lines = [f"<li>{html.escape(line)}</li>" for line in picture.remarks]
    if picture.trouble:
        lines.append(f'<li class="wrong">{html.escape(picture.trouble)}</li>')
    return PART.format(
        title=html.escape(picture.title),
        text=html.escape(picture.text),
        png=base64.b64encode(picture.png).decode("ascii"),
        remarks=f"<ul>{''.join(lines)}</ul>" if lines else "",
    )
