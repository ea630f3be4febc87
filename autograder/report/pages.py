"""Fills the page templates. HTML is escaped by default; Markdown by the filter `inline`."""

from functools import cache
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

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
    environment.filters["path"] = lambda name: quote(name, safe="")
    return environment


def render_page(template: str, **values: object) -> str:
    """Fill a template of this package."""
    return make_environment().get_template(template).render(**values)


def render_feedback_md(feedback: Feedback) -> str:
    """Return a student's feedback as Markdown."""
    return render_page("feedback.md.j2", feedback=feedback)


def render_feedback_html(feedback: Feedback) -> str:
    """Return a student's feedback as one HTML page that loads nothing."""
    return render_page("feedback.html.j2", feedback=feedback)
