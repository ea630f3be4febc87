"""Student-made text without what a terminal, a browser or an editor would obey.

File names, exception messages and folder names come from students. Before they are
stored or shown they lose escape sequences, control characters and characters that
turn the direction of writing. Escaping for Markdown or HTML is each sink's own job.
"""

import re
import unicodedata

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor moves
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)?"  # OSC: titles, links
    r"|\x1b[PX^_][^\x1b\x9c]{0,4096}(?:\x1b\\|\x9c)?"  # other strings
    r"|\x1b[ -/]*[0-~]?"
)
_DIRECTIONS = dict.fromkeys(
    [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
)


def clean(text: str, limit: int = 4000) -> str:
    r"""Return text that is safe to show as several lines; at most `limit` characters.

    >>> clean("\x1b[31mred\x1b[0m\r\nnext\x00")
    'red\nnext'
    """
    if len(text) <= limit and text.isascii() and text.isprintable():  # nearly always
        return text
    text = text[: 4 * limit].replace("\r\n", "\n").replace("\r", "\n")
    text = _ESCAPES.sub("", text).translate(_DIRECTIONS)
    text = "".join(
        char
        for char in text
        if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp")
    )
    return text if len(text) <= limit else text[: limit - 4] + " ..."


def clean_line(text: str, limit: int = 200) -> str:
    """Return text that is safe to show within one line; at most `limit` characters."""
    return clean(" ".join(clean(text, 4 * limit).split()), limit)
