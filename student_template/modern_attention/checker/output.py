"""Output that nobody reads to its end, as behind `| head -1`: that is no fault."""

from __future__ import annotations

import errno
import io
import sys
from typing import Any, TextIO

GONE = (errno.EPIPE, errno.EINVAL)  # the second is what Windows says


class Pipe(io.FileIO):
    """A pipe whose reader may go away; what is written after that is dropped."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream.fileno(), "w", closefd=False)
        self._stream = stream  # kept, since it would close the pipe
        self.has_reader = True

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in GONE:
                raise
            self.has_reader = False
            return len(data)


def prepare() -> None:
    """Have what is printed stop `check.py` neither in an old console nor when nobody reads on."""
    sys.stdout, sys.stderr = _prepare(sys.stdout), _prepare(sys.stderr)


def has_reader(out: TextIO) -> bool:
    """Say whether anybody still reads, as far as the last writing has shown."""
    raw = getattr(getattr(out, "buffer", None), "raw", None)
    return not isinstance(raw, Pipe) or raw.has_reader


def _prepare(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.reconfigure(errors="replace")
    if stream.isatty():
        return stream
    return io.TextIOWrapper(
        io.BufferedWriter(Pipe(stream)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering or stream.write_through,
    )
