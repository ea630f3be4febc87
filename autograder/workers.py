"""The workers that judge one submission, kept for as long as they are of use.

Starting a worker costs more than most tests. So an exercise may be judged in the worker of the one
before; what does not pass there is judged again in a worker of its own, so that what one file does
to its process cannot cost points elsewhere.

Some tests ask what a submission does without certain names. The first worker is spared these names
altogether: what passes there has passed without them. What does not is judged again in a worker
that has them, whatever the reason: a name can be missed in more ways than by being called.
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
        """The submission with these stand-ins, and whether what does not pass in it counts.

        It counts where nothing has been run before and no name is spared.
        """
        key = tuple((module, bool(spec["keep"])) for module, spec in stand_ins.items())
        is_new = key not in self._open or not self._open[key].is_alive()
        spared = () if stand_ins else self._spared
        if is_new:
            self._open[key] = Submission(self._station, self._set_up(stand_ins, spared))
        return self._open[key], is_new and not spared

    def start_over(self) -> None:
        """From now on, workers are new ones that are spared nothing."""
        self.end()
        self._spared = ()

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
