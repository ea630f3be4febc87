"""Ends code that runs for too long, on every system and without another process."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from types import TracebackType

end_process = os._exit  # tests put something milder in its place
AGAIN = 0.5  # seconds between attempts to end it; an `except:` can swallow one
ATTEMPTS = 10


class TooSlow(BaseException):
    """Raised in the middle of code that has run for too long."""


class TimeLimit:
    """`with TimeLimit(5, "this takes too long"): ...` raises TooSlow inside after 5 seconds.

    An exception is set in the thread that entered, by Python's own means for it. It takes effect
    at the next line of Python. Code that never gets there (`time.sleep(1000)`), or that swallows
    it again and again, ends together with this process.
    """

    def __init__(self, seconds: float, message: str) -> None:
        self.seconds = seconds
        self.message = message
        self._thread = threading.get_ident()
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._has_fired = False

    def __enter__(self) -> TimeLimit:
        self._begun = time.monotonic()
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        try:
            self._end()
        except TooSlow as late:  # it arrived when all was over
            error = late
            self._end()
        if isinstance(error, TooSlow) or time.monotonic() - self._begun > self.seconds:
            raise TooSlow(self.message).with_traceback(error and error.__traceback__) from None

    def _end(self) -> None:
        with self._lock:
            self._done.set()
            if self._has_fired:  # and has perhaps not arrived
                _set_exception(self._thread, None)

    def _watch(self) -> None:
        wait = self.seconds
        for _ in range(ATTEMPTS):
            if self._done.wait(wait):
                return
            wait = AGAIN
            with self._lock:
                if not self._done.is_set():
                    self._has_fired = True
                    _set_exception(self._thread, TooSlow)
        if not self._done.wait(AGAIN):
            self._give_up()

    def _give_up(self) -> None:
        frame = sys._current_frames().get(self._thread)
        stack = traceback.extract_stack(frame)
        last = f"{Path(stack[-1].filename).name}, line {stack[-1].lineno}: {stack[-1].line}"
        if sys.__stdout__ is not None:
            sys.__stdout__.write(
                f"{last}\n{self.message} and cannot be stopped, so everything stops here.\n"
            )
            sys.__stdout__.flush()
        end_process(1)


def _set_exception(thread: int, kind: type[BaseException] | None) -> None:
    target = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), target)
