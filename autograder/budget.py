"""The time that student code has for a test or for an import.

The limit is one of computing: a machine that is busy, or stands still, is no fault of a student's.
Only what passes while the grader waits for an answer counts at all.
"""

from __future__ import annotations

import time

from autograder.sandbox import Worker

PATIENCE = 8  # times its limit that code may take where others use the processor
LENIENCE = 3  # likewise, for what it is charged in the sum of all tests
ASLEEP = 0.05  # of the time that passes: code that computes less is waiting for something else
LEAST_PAUSE = 0.05  # seconds to wait before a decision, at the least
GRACE = 1.0  # seconds in which what has begun to arrive must have arrived


class Budget:
    """`seconds` of computing, and what has been taken of them.

    Use: `begin` and `end` around each exchange; in between, wait for a `pause`, then ask whether it
    `is_over`.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._waited = 0.0  # in exchanges that have ended
        self._began: float | None = None  # when this exchange did
        self._worker: Worker | None = None
        self._before = 0.0  # what that worker had computed when it was first asked
        self._gone = 0.0  # waited for workers before it, which cannot be asked any more

    def begin(self, worker: Worker) -> None:
        """Somebody waits for an answer from now on."""
        if worker is not self._worker:
            self._gone = self._waited
            self._worker, self._before = worker, worker.computing_seconds() or 0.0
        self._began = time.monotonic()

    def end(self) -> None:
        """The answer is there, or there will be none."""
        self._waited, self._began = self.waited(), None

    def waited(self) -> float:
        """Seconds that somebody has waited."""
        return self._waited + (0.0 if self._began is None else time.monotonic() - self._began)

    def left(self) -> float:
        """Seconds until the limit, if all of them were used for computing."""
        return self.seconds - self.waited()

    def until(self) -> float:
        """The `time.monotonic()` up to which what has begun to arrive may take."""
        return time.monotonic() + max(self.left(), GRACE)

    def is_over(self) -> bool:
        """Whether time is up. Code that sleeps has no more than the limit."""
        used, waited = self._used(), self.waited()
        if used is None or used > self.seconds or waited > PATIENCE * self.seconds:
            return True
        assert self._worker is not None
        return waited > self.seconds and used < ASLEEP * waited and self._worker.is_idle()

    def pause(self) -> float:
        """Seconds to wait before asking whether it `is_over`."""
        left = self.left()
        if left <= 0.0:  # not all that has passed was used for computing
            left = min(self.seconds - (self._used() or 0.0), self.waited())
        return max(LEAST_PAUSE, left)

    def charge(self) -> float:
        """Seconds that count in the sum of all tests.

        Who sleeps is charged the limit at most, since perhaps the machine slept; who computes, a
        part of the time that has passed at the least, so that a sum has an end.
        """
        used, waited = self._used(), self.waited()
        if used is None:
            return waited
        if used < ASLEEP * waited:
            return min(waited, self.seconds)
        return max(used, waited / LENIENCE)

    def _used(self) -> float | None:
        """Seconds of computing; None where that cannot be told."""
        if self._worker is None:
            return 0.0
        now = self._worker.computing_seconds()
        return None if now is None else self._gone + max(0.0, now - self._before)
