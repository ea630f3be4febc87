"""A table as somebody else's program wrote it: single cells can be filled, every other byte stays.

Gradebooks come as CSV in several dialects: comma, semicolon or tab; with or without a byte
order mark; Windows' or Unix's newlines; quotes where they are needed or everywhere. A table
that is only filled in goes back in the dialect in which it came.
"""

import codecs
import re
from dataclasses import dataclass, field
from pathlib import Path

from autograder.errors import KitError

MAX_BYTES = 64 << 20
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"),
          (codecs.BOM_UTF16_BE, "utf-16-be"))  # fmt: skip
_DELIMITERS = ",;\t"


@dataclass(frozen=True)
class _Cell:
    """Where a cell stands in the text, quotes included."""

    start: int
    end: int
    value: str


@dataclass
class Sheet:
    """The rows of a table; `fill` cells, then `render` it."""

    where: str  # for messages
    text: str
    mark: bytes
    encoding: str
    delimiter: str
    _cells: list[list[_Cell]]
    _filled: dict[tuple[int, int], str] = field(default_factory=dict)

    @property
    def rows(self) -> list[list[str]]:
        """The values as they were read."""
        return [[cell.value for cell in row] for row in self._cells]

    def fill(self, row: int, column: int, value: str) -> None:
        """Give a cell that exists another value."""
        if self._cells[row][column].value != value:
            self._filled[row, column] = value
        else:
            self._filled.pop((row, column), None)

    def render(self) -> bytes:
        """Return the table with the filled cells, all else as it was."""
        pieces, last = [], 0
        for (row, column), value in sorted(self._filled.items()):
            cell = self._cells[row][column]
            was_quoted = self.text[cell.start : cell.end].startswith('"')
            pieces += [self.text[last : cell.start], self._quote(value, always=was_quoted)]
            last = cell.end
        text = "".join([*pieces, self.text[last:]])
        return self.mark + text.encode(self.encoding, "replace")

    def _quote(self, value: str, *, always: bool) -> str:
        if always or any(char in value for char in (self.delimiter, '"', "\n", "\r")):
            return '"' + value.replace('"', '""') + '"'
        return value


def read_sheet(path: Path) -> Sheet:
    """Read a table from disk.

    Raises:
        KitError: no such file, not readable, too large, or a quote that is never closed.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise KitError(f"{path} cannot be read: {error.strerror}.") from error
    if len(data) > MAX_BYTES:
        raise KitError(f"{path} is larger than {MAX_BYTES >> 20} MiB, which no gradebook is.")
    return parse_sheet(data, str(path))


def parse_sheet(data: bytes, where: str) -> Sheet:
    """Read a table from bytes.

    Raises:
        KitError: a quote that is never closed.
    """
    mark, encoding = b"", "utf-8"
    for candidate, name in _MARKS:
        if data.startswith(candidate):
            mark, encoding = candidate, name
            break
    body = data[len(mark) :]
    for attempt in (encoding, "cp1252", "latin-1"):
        try:
            text, encoding = body.decode(attempt), attempt
            break
        except UnicodeDecodeError:
            continue
    delimiter = _find_delimiter(text)
    return Sheet(where, text, mark, encoding, delimiter, _split(text, delimiter, where))


def _find_delimiter(text: str) -> str:
    """Return what separates the cells of the first line, counted outside of quotes."""
    first = re.sub(r'"(?:[^"]|"")*"', "", text[: 1 << 16]).lstrip("\r\n")
    first = re.split(r"[\r\n]", first, maxsplit=1)[0]
    return max(_DELIMITERS, key=lambda delimiter: (first.count(delimiter), delimiter == ","))


def _split(text: str, delimiter: str, where: str) -> list[list[_Cell]]:
    bare = rf"[^{re.escape(delimiter)}\r\n]*"
    pattern = re.compile(rf'("(?:[^"]|"")*"){bare}|(?!"){bare}')
    rows: list[list[_Cell]] = []
    row: list[_Cell] = []
    at = 0
    while at < len(text) or row:
        found = pattern.match(text, at)
        if found is None:
            line = text.count("\n", 0, at) + 1
            raise KitError(f"{where} has a quote in line {line} that is never closed.")
        quoted = found[1]
        value = found[0]
        if quoted is not None:
            value = quoted[1:-1].replace('""', '"') + value[len(quoted) :]
        row.append(_Cell(found.start(), found.end(), value))
        at = found.end()
        if text.startswith(delimiter, at):
            at += len(delimiter)
            continue
        rows.append(row)
        row = []
        at += 2 if text.startswith("\r\n", at) else 1
    return rows
