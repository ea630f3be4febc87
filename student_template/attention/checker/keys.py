"""Single keys from the keyboard, without waiting for Enter, on every system."""

from __future__ import annotations

import contextlib
import os
import sys
import time

try:
    import select
    import termios
    import tty
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]


def has_keys() -> bool:
    """Say whether there is a terminal at both ends."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


class Keys:
    """`with Keys(True) as keys: keys.wait(0.1)` returns the key that was pressed, or ""."""

    def __init__(self, is_live: bool) -> None:
        self._is_live = is_live
        self._before: list[object] | None = None

    def __enter__(self) -> Keys:
        if self._is_live and termios is not None:
            self._before = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)

    def wait(self, seconds: float) -> str:
        """Wait at most so long for a key."""
        if not self._is_live:
            time.sleep(seconds)
            return ""
        if termios is not None:
            if not select.select([sys.stdin], [], [], seconds)[0]:
                return ""
            return _read_key()
        import msvcrt

        time.sleep(seconds)
        if not msvcrt.kbhit():  # type: ignore[attr-defined]
            return ""
        key: str = msvcrt.getwch()  # type: ignore[attr-defined]
        if key in ("\0", "\xe0"):  # an arrow or the like: a second one says which
            msvcrt.getwch()  # type: ignore[attr-defined]
            return ""
        return key


def _read_key() -> str:
    pressed = os.read(sys.stdin.fileno(), 64).decode("utf-8", "replace")
    if not pressed:  # the terminal is gone
        return "q"
    return "" if pressed.startswith("\033") else pressed[-1]  # arrows and the like begin with it
