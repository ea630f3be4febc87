"""Starts the real command, watches it, ends it in the middle, and reads what it wrote."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
Done = subprocess.CompletedProcess[str]
Running = subprocess.Popen[bytes]


def command(source: Path, out: Path, *options: str) -> list[str]:
    words = [sys.executable, "-m", "autograder", "grade", "attention", str(source)]
    return [*words, "--out", str(out), *options]


def start(source: Path, out: Path, *options: str, prefix: Sequence[str] = ()) -> Running:
    """Starts it in the background; what it says goes into a file, which is never full."""
    with _log(out).open("w", encoding="utf-8") as log:
        words = [*prefix, *command(source, out, *options)]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return Running(
            words, stdout=log, stderr=log, cwd=ROOT, env=environment, start_new_session=True
        )


def finish(process: Running, out: Path, seconds: float = 500) -> Done:
    """Waits for it to end; one that hangs is killed, and is a failure."""
    try:
        process.wait(seconds)
        said = _log(out).read_text(encoding="utf-8")
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        said = f"it hung, and was killed: {_log(out).read_text(encoding='utf-8')}"
    return Done(process.args, process.returncode, said, "")


def grade(source: Path, out: Path, *options: str, prefix: Sequence[str] = ()) -> Done:
    return finish(start(source, out, *options, prefix=prefix), out)


def _log(out: Path) -> Path:
    return out.with_name(f"{out.name}.log")


def wait_until(process: Running, condition: Callable[[], bool], seconds: float = 120) -> bool:
    """Waits for a condition, as long as the process runs; whether it came to hold."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        if process.poll() is not None:
            return False
        time.sleep(0.005)
    return False


def count_results(out: Path) -> int:
    return sum(1 for _ in out.glob("*/result.json"))


def read_all(out: Path) -> dict[str, bytes]:
    """Every file that is promised to have the same bytes each time."""
    paths = [*out.glob("*/result.json"), *out.glob("*/feedback.*"), out / "grades.csv"]
    return {str(path.relative_to(out)): path.read_bytes() for path in paths}


def list_differences(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    """The names of files that only one of the two has, or that differ."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def list_halves(out: Path) -> list[str]:
    """Results without an end, or without the feedback that is written before them."""
    halves = [
        str(path) for path in out.glob("*/result.json") if not path.read_bytes().endswith(b"}\n")
    ]
    for path in out.glob("*/result.json"):
        halves += [
            str(path.parent / name)
            for name in ("feedback.md", "feedback.html")
            if not (path.parent / name).is_file()
        ]
    return halves


def list_partials(out: Path) -> list[str]:
    """What only a run that was killed leaves, for the next to remove."""
    return [str(path) for path in out.rglob(".*.partial")]
