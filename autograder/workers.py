"""The workers that judge one submission, kept for as long as they are of use.

Starting a worker costs more than most tests. So an exercise may be judged in the worker of the one
before; what does not pass there is judged again in a worker of its own, so that what one file does
to its process cannot cost points elsewhere.

Some tests ask what a submission does without certain names. Most use none of them, so workers are
first spared these names; where one is used after all, everything is tried again with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from autograder.remote import Setup, Submission
from autograder.sandbox import Station

StandIns = Mapping[str, dict[str, Any]]


class Workers:
    """Open submissions by what stands in for what; all of them end with the `with` block."""

    def __init__(
        self,
        station: Station,
        set_up: Callable[[StandIns, Sequence[str]], Setup],
        spared: Sequence[str] = (),
    ) -> None:
        self._station = station
        self._set_up = set_up
        self._spared = spared
        self._open: dict[tuple[tuple[str, bool], ...], Submission] = {}

    def get(self, stand_ins: StandIns) -> tuple[Submission, bool]:
        """The submission with these stand-ins, and whether nothing has been run in it yet."""
        key = tuple((module, bool(spec["keep"])) for module, spec in stand_ins.items())
        is_new = key not in self._open or not self._open[key].is_alive()
        if is_new:
            setup = self._set_up(stand_ins, () if stand_ins else self._spared)
            self._open[key] = Submission(self._station, setup)
        return self._open[key], is_new

    def meet(self, submission: Submission) -> bool:
        """Whether `submission` needed what it was spared; from now on, none is spared anything."""
        if submission.is_in_need:
            self.end()
            self._spared = ()
        return submission.is_in_need

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
