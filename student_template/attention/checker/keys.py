"""Single keys from the keyboard, without waiting for Enter, on every system."""

from __future__ import annotations

import contextlib
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
        return msvcrt.getwch() if msvcrt.kbhit() else ""  # type: ignore[attr-defined]


def _read_key() -> str:
    import os

    pressed = os.read(sys.stdin.fileno(), 64).decode("utf-8", "replace")
    return pressed[-1:] if pressed and not pressed.startswith("\033") else "" if pressed else "q"
