"""`check.py --watch` at a real terminal: a pseudo-terminal, with keys pressed and files saved."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from types import TracebackType

import pytest
from student_folder import copy_with, read_solution

from autograder.assignment import Assignment, load

SECONDS = 90
LOOP = "while True:\n    try:\n        pass\n    except BaseException:\n        pass\n"
WITHOUT_FORK = """
import sys
sys.path.append({folder!r})
from checker.folder import EXERCISES
from checker.rejudging import Rejudge
from checker.watch import watch
watch(EXERCISES, Rejudge(can_fork=False))
"""


def heed_interrupts() -> None:
    """As in a shell of one's own: what is started in the background ignores Ctrl-C from birth."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """A command at a terminal of its own: `type` keys, wait until something `appears`."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self._ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=heed_interrupts,
        )
        os.close(theirs)
        self._seen = ""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def appears(self, text: str) -> str:
        """Wait for a text after everything that was waited for before; return what came."""
        end = time.monotonic() + SECONDS
        while text not in self._seen and time.monotonic() < end:
            if select.select([self._ours], [], [], 0.1)[0]:
                try:
                    self._seen += os.read(self._ours, 65536).decode("utf-8", "replace")
                except OSError:  # the other end is closed
                    break
        before, found, self._seen = self._seen.partition(text)
        assert found, f"{text!r} did not appear in {before[-1500:]!r}"
        return before

    def waits_for_enter(self) -> bool:
        """Whether the terminal is as a shell wants it: it hands over whole lines, and echoes."""
        modes = termios.tcgetattr(self._ours)[3]
        return bool(modes & termios.ICANON and modes & termios.ECHO)


@pytest.fixture(scope="module")
def attention() -> Assignment:
    return load("attention")


@pytest.fixture
def folder(bundle: Path, tmp_path: Path) -> Path:
    return copy_with(bundle, tmp_path / "work", {})


def save(path: Path, text: str) -> None:
    """Save as editors do: a new file in the place of the old one."""
    new = path.with_suffix(".tmp")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)


@pytest.mark.parametrize("way", ["forked", "served"])
def test_an_evening(way: str, attention: Assignment, folder: Path) -> None:
    right = read_solution(attention)
    command = [sys.executable, "check.py", "--watch"]
    if way == "served":
        command = [sys.executable, "-c", WITHOUT_FORK.format(folder=str(folder))]
    with Terminal(command, folder) as terminal:
        assert "not yet written" in terminal.appears("q  quit")
        terminal.type("h")
        terminal.appears("Hint 1 of 3")
        terminal.type("h")
        terminal.appears("Hint 2 of 3")

        save(folder / "multi_head_attention.py", LOOP)  # cannot be stopped from inside
        time.sleep(1)
        save(folder / "multi_head_attention.py", right["multi_head_attention.py"])
        terminal.appears("15 of 15 public points")
        terminal.appears("q  quit")
        terminal.type("n")
        terminal.appears("q  quit")
        for text in ("os._exit(3)", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"):
            save(folder / "positional_encoding.py", f"import os\n{text}\n")
            wanted = "SystemExit: 3" if "_exit" in text else "has ended the process"
            terminal.appears(wanted)
            terminal.appears("q  quit")
        save(folder / "positional_encoding.py", right["positional_encoding.py"])
        said = terminal.appears("8 of 8 public points")
        assert "\033[2J" in said  # the screen is cleared
        terminal.appears("q  quit")
        assert not terminal.waits_for_enter()
        if way == "forked":
            terminal.type("q")
        else:
            terminal.process.send_signal(signal.SIGINT)
        assert terminal.process.wait(SECONDS) == 0
        assert terminal.waits_for_enter()
    assert not list(folder.glob("*.json"))


def test_without_a_terminal_it_reruns(attention: Assignment, folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "check.py", "--watch", "2"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    assert process.stdout is not None
    try:
        lines = iter(process.stdout.readline, "")
        assert any("not yet written" in line for line in lines)
        save(folder / "positional_encoding.py", read_solution(attention)["positional_encoding.py"])
        assert any("8 of 8 public points" in line for line in lines)
        assert any("Save a file to check again" in line for line in lines)
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 0
        assert "\033[2J" not in process.stdout.read()
    finally:
        process.kill()
        process.wait()
