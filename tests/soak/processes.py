"""What a run is made of, as /proc shows it: its processes, what they hold, what they leave."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.worker import box

PROC = Path("/proc")
END_SECONDS = 15.0


@dataclass(frozen=True)
class Process:
    """A process as it was when looked at.

    `memory` is its own, in MiB: what is mapped from files, as the tables of known mistakes are, all
    of them share, and the kernel takes it back when it wants to.
    """

    pid: int
    parent: int
    state: str
    role: str
    memory: float
    descriptors: int


def look(root: int) -> list[Process]:
    """Process `root` and all of its descendants."""
    found = [process for pid in _list_pids() if (process := _read(pid)) is not None]
    known, family = {root}, []
    while True:
        more = [p for p in found if p.pid not in {q.pid for q in family}]
        more = [p for p in more if p.pid in known or p.parent in known]
        if not more:
            return _with_roles(root, family)
        family += more
        known |= {process.pid for process in more}


def _list_pids() -> list[int]:
    return [int(name) for name in os.listdir(PROC) if name.isdigit()]


def _read(pid: int) -> Process | None:
    """None when it is gone."""
    try:
        words = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        command = (PROC / str(pid) / "cmdline").read_bytes()
        _, resident, shared, *_ = map(int, (PROC / str(pid) / "statm").read_text().split())
    except (OSError, IndexError, ValueError):
        return None
    count = 0
    with contextlib.suppress(OSError):
        count = len(os.listdir(PROC / str(pid) / "fd"))
    role = "zygote" if b"autograder.worker" in command else "judge"
    if command.startswith(b"/") and b"bwrap" in command.split(b"\0")[0]:
        role = "box"
    size = (resident - shared) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    return Process(pid, int(words[1]), words[0], role, size, count)


def _with_roles(root: int, family: list[Process]) -> list[Process]:
    """The root is the grader; forks of a zygote look like it, and are workers."""
    zygotes = {process.pid for process in family if process.role == "zygote"}
    named = []
    for process in family:
        if process.pid == root:
            process = replace(process, role="grader")
        elif process.pid in zygotes and process.parent in zygotes:
            process = replace(process, role="worker")
        named.append(process)
    return named


@contextlib.contextmanager
def adopting() -> Iterator[Callable[[], list[Process]]]:
    """Within it, orphans of this process's children become its own, and none is overlooked.

    Yields a function that waits until all are gone and returns those that stay.
    """
    before = {process.pid for process in look(os.getpid())}

    def list_left() -> list[Process]:
        deadline = time.monotonic() + END_SECONDS
        while True:
            left = [p for p in look(os.getpid()) if p.pid not in before]
            for process in left:
                if process.state == "Z" and process.parent == os.getpid():
                    with contextlib.suppress(ChildProcessError):  # as init would
                        os.waitpid(process.pid, os.WNOHANG)
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(0.05)

    box.prctl(box.PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield list_left
    finally:
        box.prctl(box.PR_SET_CHILD_SUBREAPER, 0)


def list_traces() -> set[str]:
    """Whatever a sandbox could leave on the machine beside processes."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    traces = {line.split()[4] for line in mounts}  # and namespaces that are held by one
    for folder in (Path("/tmp"), Path("/dev/shm")):
        found = [path for path in folder.glob("*autograder*") if not _has_owner(path)]
        traces |= {str(path) for path in found}
    for kind in ("shm", "sem", "msg"):
        path = PROC / "sysvipc" / kind
        if path.exists():
            traces |= {f"{kind} {line.split()[1]}" for line in path.read_text().splitlines()[1:]}
    return traces


def _has_owner(path: Path) -> bool:
    """Whether it is the folder of a zygote that lives: of another run beside this one."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return not path.exists()
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False
