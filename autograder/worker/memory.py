"""The memory of the zygote, and how much a worker and everything it started hold together.

The limit on address space holds for each process by itself; many processes could still fill the
machine. So the zygote also looks at the sum, every `LOOK_SECONDS`.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator

LOOK_SECONDS = 0.1
MADV_COLLAPSE, LARGE = 25, 2 << 20  # of Linux 6.1 and later; bytes of a large page


def collapse() -> None:
    """Puts this process's own data into large pages, so that a fork copies fewer entries.

    A fork then takes a quarter of the time. Where the kernel cannot, nothing changes.
    """
    libc = ctypes.CDLL(None)
    with open("/proc/self/maps") as file:
        lines = [line.split() for line in file]
    for span, access, _, _, inode, *name in lines:
        if access == "rw-p" and inode == "0" and name in ([], ["[heap]"]):
            begin, end = (int(word, 16) for word in span.split("-"))
            begin, end = -(-begin // LARGE) * LARGE, end // LARGE * LARGE
            if begin < end:
                libc.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), MADV_COLLAPSE)


def is_beyond(pid: int, memory_bytes: int, proc: int) -> bool:
    """Whether process `pid` and its family hold more than that.

    `proc` is a descriptor of a `/proc` that shows the family.
    """
    # Resident pages shared among forks count once for each: look closely only when it matters.
    is_near = _sum(proc, pid, _resident) > memory_bytes
    return is_near and _sum(proc, pid, _own) > memory_bytes


def _sum(proc: int, pid: int, measure: object) -> int:
    assert callable(measure)
    return sum(measure(proc, member) for member in _family(proc, pid))


def _family(proc: int, pid: int) -> Iterator[int]:
    """The process and its descendants. Orphans in a process namespace stay descendants."""
    waiting = [pid]
    while waiting:
        member = waiting.pop()
        yield member
        for thread in _list(proc, f"{member}/task"):
            text = _read(proc, f"{member}/task/{thread}/children")
            waiting.extend(int(word) for word in text.split())


def _resident(proc: int, pid: int) -> int:
    words = _read(proc, f"{pid}/statm").split()
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE") if words else 0


def _own(proc: int, pid: int) -> int:
    """Resident memory with every shared page divided among those that share it."""
    for line in _read(proc, f"{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) << 10
    return _resident(proc, pid)


def _list(proc: int, path: str) -> list[str]:
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY, dir_fd=proc)
    except OSError:
        return []
    try:
        return os.listdir(folder)
    except OSError:
        return []
    finally:
        os.close(folder)


def _read(proc: int, path: str) -> str:
    try:
        file = os.open(path, os.O_RDONLY, dir_fd=proc)
    except OSError:
        return ""
    try:
        return os.read(file, 1 << 16).decode("ascii", "replace")
    except OSError:
        return ""
    finally:
        os.close(file)
