"""Output that nobody reads to its end: behind `| head -1` a command still finishes its work."""

import errno
import io
import sys
from typing import Any, TextIO


class _Unread(io.FileIO):
    """A pipe whose reader may go away; what is written after that is dropped."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream.fileno(), "w", closefd=False)
        self._stream = stream  # kept, since it would close the pipe

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if error.errno != errno.EPIPE:
                raise
            return len(data)


def outlive_readers() -> None:
    """Have standard output and error, unless they are a terminal, outlive who reads them."""
    sys.stdout, sys.stderr = _wrap(sys.stdout), _wrap(sys.stderr)


def _wrap(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper) or stream.isatty():
        return stream
    return io.TextIOWrapper(
        io.BufferedWriter(_Unread(stream)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering or stream.write_through,
    )
