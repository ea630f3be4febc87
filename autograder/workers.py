"""The workers that judge one submission, kept for as long as they are of use.

Starting a worker costs more than most tests. So an exercise may be judged in the worker of the one
before; what does not pass there is judged again in a worker of its own, so that what one file does
to its process cannot cost points elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from autograder.remote import Setup, Submission
from autograder.sandbox import Station

StandIns = Mapping[str, dict[str, Any]]


class Workers:
    """Open submissions by what stands in for what; all of them end with the `with` block."""

    def __init__(self, station: Station, set_up: Callable[[StandIns], Setup]) -> None:
        self._station = station
        self._set_up = set_up
        self._open: dict[tuple[tuple[str, bool], ...], Submission] = {}

    def get(self, stand_ins: StandIns) -> tuple[Submission, bool]:
        """The submission with these stand-ins, and whether nothing has been run in it yet."""
        key = tuple((module, bool(spec["keep"])) for module, spec in stand_ins.items())
        is_new = key not in self._open or not self._open[key].is_alive()
        if is_new:
            self._open[key] = Submission(self._station, self._set_up(stand_ins))
        return self._open[key], is_new

    def end(self) -> None:
        """Ends them all."""
        for submission in self._open.values():
            submission.close()
        self._open.clear()

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()
