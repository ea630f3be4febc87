"""Turns the bytes of a source file, in whatever encoding, into UTF-8 with plain newlines."""

import codecs
import re

_MARKS = [
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]
_COOKIE = re.compile(r"^([ \t\f]*#.*?coding[:=][ \t]*)([-\w.]+)", re.ASCII)


def decode_source(data: bytes) -> tuple[str, list[str]]:
    """Return the text of a source file, and notes on what had to be changed to read it.

    Never fails: what is in no known encoding is read as Latin-1 and will say itself, when
    it is imported, that it is not Python.
    """
    notes: list[str] = []
    text = _decode(data, notes)
    if "\0" in text:
        text = text.replace("\0", "")
        notes.append("held NUL characters, which were removed")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _restate_cookie(text), notes


def is_blank(text: str) -> bool:
    """Tell whether a file is as good as missing: nothing but blanks in it."""
    return not text.strip("\ufeff \t\n\f\v\r")


def _decode(data: bytes, notes: list[str]) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            if encoding != "utf-8":
                notes.append(f"was in {encoding[:-3].upper()}; save it as UTF-8")
            return data[len(mark) :].decode(encoding, "replace")
    nul_share = data.count(0) / (len(data) or 1)
    if nul_share > 0.3:  # ASCII text in UTF-16 is half NULs
        even = data[::2].count(0) > data[1::2].count(0)
        notes.append("was in UTF-16; save it as UTF-8")
        return data.decode("utf-16-be" if even else "utf-16-le", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    encoding = _find_cookie(data) or "cp1252"
    notes.append("was not in UTF-8; letters beyond ASCII may look odd")
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return data.decode("latin-1")


def _find_cookie(data: bytes) -> str:
    """Return the text encoding that one of the first two lines declares, or nothing."""
    for line in data.splitlines()[:2]:
        found = _COOKIE.match(line.decode("latin-1"))
        if found:
            try:
                info = codecs.lookup(found[2])
            except LookupError:
                return ""
            return info.name if info._is_text_encoding else ""
    return ""


def _restate_cookie(text: str) -> str:
    """Make a declared encoding say what the text now is in."""
    lines = text.split("\n", 2)
    for number, line in enumerate(lines[:2]):
        if _COOKIE.match(line):
            lines[number] = _COOKIE.sub(r"\1utf-8", line)
            break
        if line.strip() and not line.lstrip().startswith("#"):
            break
    return "\n".join(lines)
