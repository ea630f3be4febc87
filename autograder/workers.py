"""The workers that judge one submission, kept for as long as they are of use.

Starting a worker costs more than most tests. So an exercise may be judged in the worker of the one
before; what does not pass there is judged again in a worker of its own, so that what one file does
to its process cannot cost points elsewhere.

Some tests ask what a submission does without certain names. The first worker is spared these names
altogether: what passes there has passed without them. Code that speaks of one of them is spared
none, as it may miss them in more ways than by a call. Where code ends or raises without them, all
is judged again in a worker that has them; a wrong value is no matter of names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
        self._makes_later = True
        self._open: dict[tuple[tuple[str, bool], ...], Submission] = {}

    def get(self, stand_ins: StandIns) -> tuple[Submission, bool]:
        """The submission with these stand-ins, and whether nothing has been run in it yet."""
        key = tuple((module, bool(spec["keep"])) for module, spec in stand_ins.items())
        is_new = key not in self._open or not self._open[key].is_alive()
        if is_new:
            spared = () if stand_ins else self._spared
            self._open[key] = Submission(self._station, self._set_up(stand_ins, spared))
            self._open[key].makes_later = self._makes_later
        return self._open[key], is_new

    def start_over(self) -> None:
        """From now on, workers are new ones that are spared nothing.

        Where one was misled, they make no module later than a test asks for it, and no more.
        """
        if any(submission.is_misled for submission in self._open.values()):
            self._makes_later = False
        else:
            self._spared = ()
        self.end()

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


def speaks_of(texts: Iterable[str], names: Collection[str]) -> bool:
    """Whether code uses one of `names`: by itself, after a dot, imported or as a text."""
    likely = [text for text in texts if any(name in text for name in names)]
    return any(word in names for text in likely for word in _list_words(text))


def _list_words(text: str) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.Constant(value=str(word)):
                yield word
            case ast.alias(name=path):
                yield from path.split(".")
