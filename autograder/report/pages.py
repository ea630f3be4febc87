"""Fills the page templates. HTML is escaped by default; Markdown by the filter `inline`.

A page is one file. Its policy lets a browser load nothing, and run and apply only what this
module has put in, known by its digest: text of a student that got past the escaping would
still be dead.
"""

import hashlib
from base64 import b64encode
from functools import cache
from importlib import resources
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from autograder.plaintext import clean_line
from autograder.report.escaping import escape_html, escape_markdown, fence
from autograder.report.feedback import Feedback


@cache
def make_environment() -> Environment:
    """Return the one environment: HTML autoescaped, a misspelt name an error."""
    environment = Environment(
        loader=PackageLoader("autograder.report", "templates"),
        autoescape=lambda name: name is not None and ".html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["inline"] = escape_markdown
    environment.filters["fence"] = fence
    environment.filters["prose"] = escape_html
    environment.filters["line"] = clean_line
    environment.filters["path"] = lambda name: quote(name, safe="")
    return environment


def render_page(template: str, *, style: str = "", script: str = "", **values: object) -> str:
    """Fill a template of this package.

    Args:
        template: its file name.
        style: the names of style sheets beside it, in order.
        script: the name of a script beside it.
        values: what the template names.
    """
    styles = "\n".join(_read(name) for name in style.split())
    code = _read(script) if script else ""
    values |= {"style": Markup(styles), "script": Markup(code), "policy": _permit(styles, code)}
    return make_environment().get_template(template).render(**values)


def render_feedback_md(feedback: Feedback) -> str:
    """Return a student's feedback as Markdown."""
    return render_page("feedback.md.j2", feedback=feedback)


def render_feedback_html(feedback: Feedback) -> str:
    """Return a student's feedback as one HTML page that loads nothing."""
    return render_page("feedback.html.j2", style="common.css feedback.css", feedback=feedback)


def _permit(styles: str, code: str) -> Markup:
    """Return a Content-Security-Policy for this style and this script, images within the page."""
    allowed = [
        "default-src 'none'",
        f"style-src '{_digest(styles)}'",
        f"script-src '{_digest(code)}'" if code else "script-src 'none'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return Markup("; ".join(allowed))


def _digest(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


@cache
def _read(name: str) -> str:
    """Return a file of the templates; none may hold what would end its place in the page."""
    folder = resources.files("autograder.report") / "templates"
    return (folder / name).read_text(encoding="utf-8").strip()
