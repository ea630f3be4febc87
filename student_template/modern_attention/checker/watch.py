"""`check.py --watch`: judges again each time that you save."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any, TextIO

from checker import words
from checker.folder import EXERCISES, FOLDER, LEVELS, hint
from checker.keys import Keys, has_keys
from checker.output import has_reader
from checker.rejudging import Judging, Rejudge

TICK = 0.02  # seconds between two looks at files and keys
CLEAR = "\033[2J\033[3J\033[H"
Snapshot = list[tuple[int, int] | None]


def watch(chosen: Sequence[dict[str, Any]], rejudge: Rejudge | None = None) -> int:
    """Watch the files of `chosen` until `q` or Ctrl-C is pressed."""
    screen = Screen(chosen, sys.stdout, has_keys())
    screen.say("Getting ready ...")
    with rejudge or Rejudge() as judges, Keys(screen.is_live) as keys:
        seen: Snapshot = []
        judging: Judging | None = None
        try:
            while True:
                now = take_snapshot(chosen)
                if now != seen:
                    seen = settle(chosen, now)
                    if judging is not None:
                        judging.cancel()
                    judging = judges.start([exercise["id"] for exercise in chosen])
                    begun = time.monotonic()
                found = judging.result() if judging is not None else None
                if found is not None:
                    judging = None
                    screen.show_result(found, time.monotonic() - begun)
                if not screen.react(keys.wait(TICK)) or not has_reader(sys.stdout):
                    return 0
        except KeyboardInterrupt:
            return 0
        finally:
            if judging is not None:
                judging.cancel()


def take_snapshot(chosen: Sequence[dict[str, Any]]) -> Snapshot:
    """What tells one version of the files from the next."""
    found: Snapshot = []
    for exercise in chosen:
        try:
            status = (FOLDER / exercise["file"]).stat()
            found.append((status.st_mtime_ns, status.st_size))
        except OSError:
            found.append(None)
    return found


def settle(chosen: Sequence[dict[str, Any]], now: Snapshot) -> Snapshot:
    """Wait until a save is complete: editors write in pieces, or a new file in place of the old."""
    for _ in range(30):
        time.sleep(TICK)
        before, now = now, take_snapshot(chosen)
        if now == before:
            break
    return now


class Screen:
    """What is shown: how all exercises stand, what is wrong in one of them, and its hints."""

    def __init__(self, chosen: Sequence[dict[str, Any]], out: TextIO, is_live: bool) -> None:
        self.is_live = is_live  # there are keys to press, and the screen can be cleared
        self._chosen = list(chosen)
        self._out = out
        self._style = words.Style(out)
        self._accounts: dict[str, list[dict[str, Any]]] = {}
        self._at = 0  # the exercise that is looked at
        self._was_moved = False
        self._levels = dict.fromkeys((exercise["id"] for exercise in chosen), 0)
        self._trouble = ""
        self._seconds = 0.0

    def say(self, text: str) -> None:
        self._out.write(text + "\n")
        self._out.flush()

    def show_result(self, found: list[dict[str, Any]] | str, seconds: float) -> None:
        """Show what a run has found."""
        self._seconds = seconds
        self._trouble = found if isinstance(found, str) else ""
        if not isinstance(found, str):
            self._accounts = words.group(found)
            if not self._was_moved:
                self._move_to_next_step()
        self._draw()

    def react(self, key: str) -> bool:
        """Do what a key asks for; False when it asks for the end."""
        if key in ("q", "Q", "\x03", "\x04"):
            return False
        if key in ("h", "H"):
            exercise_id = self._chosen[self._at]["id"]
            self._levels[exercise_id] = min(self._levels[exercise_id] + 1, LEVELS)
            self._draw()
        elif key in ("n", "N"):
            self._at = (self._at + 1) % len(self._chosen)
            self._was_moved = True
            self._draw()
        return True

    def _move_to_next_step(self) -> None:
        following = words.next_step(self._chosen, self._accounts)
        if following is not None and self._state(self._at) != "bad":
            self._at = self._chosen.index(following)

    def _state(self, at: int) -> str:
        return words.state_of(self._accounts.get(self._chosen[at]["id"], []))

    def _draw(self) -> None:
        lines = [CLEAR if self.is_live else f"--- {time.strftime('%H:%M:%S')}"]
        for place, exercise in enumerate(self._chosen):
            told = self._accounts.get(exercise["id"], [])
            if place == self._at:
                shaky = words.shaky_below(exercise, EXERCISES, self._accounts)
                lines += words.describe(exercise, told, self._style, shaky)
            else:
                lines.append(words.headline(exercise, told, self._style))
        if self._trouble:
            lines += ["", self._style.paint("bad", self._trouble)]
        exercise_id = self._chosen[self._at]["id"]
        for level in range(1, self._levels[exercise_id] + 1):
            lines += ["", hint(exercise_id, level)]
        lines += ["", *self._footer()]
        self.say("\n".join(lines))

    def _footer(self) -> list[str]:
        judged = f"Checked in {self._seconds:.2f} s. Save a file to check again."
        if not self.is_live:
            return [judged]
        lines = list(words.conclude(self._chosen, self._accounts, self._style))[:2]
        keys = "h  a hint    n  the next exercise    q  quit"
        if self._levels[self._chosen[self._at]["id"]]:
            keys = keys.replace("a hint", "another hint")
        return [*lines, judged, self._style.paint("bold", keys)]
