"""What commands ask the machine: its cores, and how to say a path."""

import os
from pathlib import Path


def count_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def show_path(path: Path) -> str:
    """Return a path as short as it can be said from here."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
