"""How a test waits for what must come. A machine may stand still for seconds: no promise breaks."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

WAIT_SECONDS = 60.0


def wait_until(condition: Callable[[], bool]) -> bool:
    """Waits until `condition()` holds; False if it does not come to that."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds


def find_processes(name: str) -> list[str]:
    """What the kernel says of each process of that name, zombies and those in namespaces too."""
    found = []
    for path in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            if path.read_text().strip() == name:
                found.append(path.with_name("status").read_text())
    return found
