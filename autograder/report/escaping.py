"""Puts text that may come from a student into Markdown, HTML and CSV, inert in each.

Code in `backticks` stays code, since nothing inside it has a meaning. All else loses its
meaning: no link, no picture, no heading, no formula.
"""

import re

from markupsafe import Markup, escape

_SPAN = re.compile(r"`[^`\n]+`")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~!&@$])")
_LINE_START = re.compile(r"^(\s*)([-+=]|\d+(?=[.)]))", re.MULTILINE)
_ADDRESS = re.compile(r"(?i)(https?|ftp|mailto|xmpp|www)([:.])")


def escape_markdown(text: str) -> str:
    r"""Return text as inline Markdown that shows as it is, on one line.

    >>> escape_markdown("![x](http://a) `d_k` d_k")
    '\\!\\[x\\](http\\:// a) `d_k` d\\_k'
    """
    text = " ".join(text.split())
    pieces, last = [], 0
    for span in _SPAN.finditer(text):
        pieces += [_escape_plain(text[last : span.start()]), span[0]]
        last = span.end()
    return "".join([*pieces, _escape_plain(text[last:])])


def _escape_plain(text: str) -> str:
    text = _MARKDOWN.sub(r"\\\1", text)
    text = _LINE_START.sub(lambda found: f"{found[1]}\\{found[2]}", text)
    # Some readers make links of bare addresses, backslash or not: a blank stops them.
    return _ADDRESS.sub(r"\1\\\2", text).replace("//", "// ")


def fence(text: str) -> str:
    """Return text as a Markdown code block that nothing in the text can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}text\n{text}\n{ticks}"


def escape_html(text: str) -> Markup:
    """Return text as HTML, with code in backticks marked as such."""
    pieces, last = [], 0
    for span in _SPAN.finditer(text):
        pieces += [
            escape(text[last : span.start()]),
            Markup("<code>{}</code>").format(span[0][1:-1]),
        ]
        last = span.end()
    return Markup("").join([*pieces, escape(text[last:])])


def defuse_cell(text: str) -> str:
    """Return a CSV cell that no spreadsheet takes for a formula."""
    return "'" + text if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
