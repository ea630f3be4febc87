"""Starts zygotes and workers, and ends them. The only module of the grader that spawns.

    zygote = Zygote.spawn(channels=2)          # once; imports torch while the grader does too
    station = Station(zygote.channels[0])      # one for each judge
    worker = station.start(limits)             # one fork, a few milliseconds
    worker.link                                # a socket that speaks `autograder.protocol`
    worker.kill()

Isolation levels: `full` (namespaces: no host files, network or processes) and `process` (a plain
subprocess with limits). Which one is reached is found by trying and told by `Station.level`.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path

from autograder.errors import KitError
from autograder.worker.box import HOME, REFUSED

MESSAGE = 65536
START_SECONDS = 120.0
END_SECONDS = 2.0
CPU_CLOCK = 2  # CPUCLOCK_SCHED of linux/posix-timers.h: ~pid << 3 | 2 is the clock of a process
ZYGOTE_SETTINGS = {
    "OMP_THREAD_LIMIT": "1",  # whatever a student sets later
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",  # large pages: a fork copies fewer entries
}
SYSTEM_VIEW = (
    "/usr",
    "/lib",
    "/lib64",
    "/lib32",
    "/bin",
    "/sbin",
    "/etc/ld.so.cache",
    "/etc/fonts",
)


class Zygote:
    """A warm process that forks workers; `channels` are this side's ends of its channels."""

    def __init__(self, process: subprocess.Popen[bytes], channels: list[socket.socket]) -> None:
        self.process = process
        self.channels = channels

    @classmethod
    def spawn(cls, channels: int = 1, isolation: str = "auto") -> Zygote:
        """`isolation` is the most to try for: `auto`, `full` or `process`."""
        kind = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_DGRAM
        pairs = [socket.socketpair(socket.AF_UNIX, kind) for _ in range(channels)]
        fds = [theirs.fileno() for _, theirs in pairs]
        view = _view()
        bwrap = shutil.which("bwrap") if isolation != "process" else None
        process = None
        if bwrap and _works(_boxed(bwrap, view, [sys.executable, "-I", "-S", "-c", ""])):
            process = cls._start(fds, "boxed", view, _boxed(bwrap, view, []))
        if process is None:
            level = "process" if isolation == "process" else "full"
            process = cls._start(fds, level, view, [])
        for _, theirs in pairs:
            theirs.close()
        return cls(process, [ours for ours, _ in pairs])

    @staticmethod
    def _start(
        fds: list[int], isolation: str, view: Sequence[str], prefix: list[str]
    ) -> subprocess.Popen[bytes]:
        config = {"channels": fds, "isolation": isolation, "view": view}
        command = [sys.executable, "-I", "-m", "autograder.worker", json.dumps(config)]
        return subprocess.Popen(
            [*prefix, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=fds,
            env=_environment() | ZYGOTE_SETTINGS,
            cwd="/",
            start_new_session=True,
        )

    def close(self) -> None:
        """Ends the zygote and everything it forked."""
        for channel in self.channels:
            channel.close()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _environment() -> dict[str, str]:
    """What a zygote knows of the host: nothing. One thread, set before torch is imported."""
    fixed = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/tmp", "PYTHONHASHSEED": "0"}
    threads = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return fixed | dict.fromkeys(threads, "1") | {"MPLBACKEND": "agg"}


def _view() -> list[str]:
    """The folders that a worker may read: the system's libraries, Python and this package's part.

    Of this package only what exists beside student code anyway, so that the zygote can start.
    """
    package = Path(__file__).resolve().parent
    ours = [package / name for name in ("__init__.py", "protocol.py", "worker")]
    python = [sys.prefix, sys.base_prefix, sysconfig.get_path("purelib")]
    paths = [*SYSTEM_VIEW, *python, *(str(path) for path in ours)]
    paths += [os.path.realpath(path) for path in paths]
    return [path for path in dict.fromkeys(paths) if os.path.exists(path)]


def _boxed(bwrap: str, view: Sequence[str], command: list[str]) -> list[str]:
    """`command` in bubblewrap's box: the view read-only, no network, nothing of the host."""
    words = [bwrap, "--die-with-parent", "--unshare-ipc", "--unshare-pid", "--unshare-net"]
    words += ["--unshare-uts", "--tmpfs", "/", "--proc", "/proc", "--dev", "/dev"]
    words += ["--tmpfs", "/tmp", "--perms", "0755", "--dir", HOME]
    for folder in sorted({str(parent) for path in view for parent in Path(path).parents}):
        words += ["--perms", "0755", "--dir", folder]  # else closed to the forks' throw-away users
    for path in view:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        else:
            words += ["--ro-bind", path, path]
    if os.geteuid() == 0:  # kept for the forks, which drop them before any student code runs
        for capability in ("SYS_ADMIN", "SETUID", "SETGID", "SETPCAP", "SYS_PTRACE"):
            words += ["--cap-add", "CAP_" + capability]
    return [*words, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--", *command]


def _works(command: list[str]) -> bool:
    null = subprocess.DEVNULL
    try:
        code = subprocess.call(
            command, stdin=null, stdout=null, stderr=null, env=_environment(), timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return code == 0


class Worker:
    """One fork of the zygote. `link` speaks the protocol; `kill` ends it and all it started."""

    def __init__(self, station: Station, number: int, link: socket.socket) -> None:
        self.station = station
        self.number = number
        self.link = link
        self.pid = 0
        self.handle: int | None = None
        self._pid = 0
        self.ended: int | None = None
        self.held_too_much = False

    def kill(self) -> None:
        """Ends the worker now, whatever it is doing."""
        self.link.close()
        if self.handle is None and not self.pid and self.ended is None:
            self.station.read_until(lambda: bool(self.pid) or self.ended is not None, END_SECONDS)
        with contextlib.suppress(OSError):
            if self.handle is not None:
                signal.pidfd_send_signal(self.handle, signal.SIGKILL)
            elif self.pid and self.ended is None and self.station.level == "process":
                os.killpg(self.pid, signal.SIGKILL)
        self.release()

    def computing_seconds(self) -> float | None:
        """Processor time that the worker's first process has used; None if that cannot be told."""
        pid = self._find_pid()
        with contextlib.suppress(OSError):
            return time.clock_gettime(~pid << 3 | CPU_CLOCK) if pid else None
        return None

    def is_idle(self) -> bool:
        """Whether it sleeps; not so where it waits for a processor or a disk that others use."""
        try:
            with open(f"/proc/{self._find_pid()}/stat") as file:
                return file.read().rpartition(")")[2].split()[0] not in "RD"
        except OSError:
            return True

    def _find_pid(self) -> int:
        """Its first process as this side numbers it; 0 where that cannot be told."""
        if self.handle is None:
            self.station.read_until(lambda: self.handle is not None, 0.01)
        if self.handle is not None and not self._pid:
            with contextlib.suppress(OSError), open(f"/proc/self/fdinfo/{self.handle}") as file:
                fields = dict(line.split(":", 1) for line in file.read().splitlines())
                self._pid = max(int(fields.get("Pid", 0)), 0)
        return self._pid

    def release(self) -> None:
        self.station.workers.pop(self.number, None)
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None

    def how_it_ended(self) -> int | None:
        """The exit code of a worker that hung up, 128 + n for signal n; None if unknown."""
        self.station.read_until(lambda: self.ended is not None, END_SECONDS)
        return self.ended


class Station:
    """One judge's end of a channel to a zygote."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.workers: dict[int, Worker] = {}
        self.level = ""
        self.is_broken = False  # then what was judged through it is worth nothing
        self.kills = 0  # of workers, by nobody that is known
        self._number = secrets.randbelow(1 << 30)  # also picks throw-away users: seldom the same

    def wait_ready(self) -> str:
        """Waits until the zygote is warm; returns the isolation level it reached."""
        self.read_until(lambda: bool(self.level), START_SECONDS)
        if not self.level:
            raise KitError(
                "The sandbox did not start. Run `autograder grade … --isolation process` "
                "to see whether Python itself works there."
            )
        if self.level == "refused":
            raise KitError(
                "Namespaces cannot be had here, and root would have to run student code as root. "
                "Grade as an ordinary user, or say --isolation process if you trust the class."
            )
        return self.level

    def start(self, limits: dict[str, int], preload: Sequence[str] = ()) -> Worker:
        """Forks a worker. `limits` as in `worker.box.apply_limits`."""
        ours, theirs = socket.socketpair()
        self._number += 1
        number = self._number
        order = {"number": number, "limits": limits, "preload": list(preload)}
        if sys.platform == "linux":
            order["cores"] = sorted(os.sched_getaffinity(0))
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [theirs.fileno()]))]
        try:
            self.channel.sendmsg([json.dumps(order).encode()], rights)
        except OSError as error:
            ours.close()
            self.is_broken = True
            raise KitError(f"The sandbox is gone ({error.strerror}).") from None
        finally:
            theirs.close()
        worker = self.workers[number] = Worker(self, number, ours)
        return worker

    def read_until(self, done: object, seconds: float) -> None:
        """Reads the zygote's messages until `done()` or the time is up."""
        assert callable(done)
        deadline = time.monotonic() + seconds
        while not done() and (left := deadline - time.monotonic()) > 0:
            self.channel.settimeout(left)
            try:
                text, fds, _, _ = socket.recv_fds(self.channel, MESSAGE, 4)
            except TimeoutError:
                return
            except OSError:
                text, fds = b"", []
            if not text:
                self.is_broken = True
                return
            self._note(json.loads(text), fds)

    def _note(self, message: dict[str, object], fds: list[int]) -> None:
        worker = self.workers.get(int(str(message.get("number", 0))))
        if "ready" in message:
            self.level = str(message["ready"])
        elif worker and "started" in message:
            worker.pid = int(str(message["started"]))
            worker.handle = fds.pop() if fds else None
        elif worker and "ended" in message:
            worker.ended = int(str(message["ended"]))
            worker.held_too_much = bool(message.get("too_much"))
        elif worker and "refused" in message:
            worker.ended = REFUSED
        for fd in fds:
            os.close(fd)


def start_python(arguments: Sequence[str], threads: int) -> subprocess.Popen[bytes]:
    """Starts a Python that runs code of ours, not a student's, with that many threads."""
    environment = _environment()
    environment |= {name: str(threads) for name in environment if name.endswith("NUM_THREADS")}
    environment |= {"OMP_WAIT_POLICY": "passive"}  # threads that wait leave the core to others
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finish_python(process: subprocess.Popen[bytes], seconds: float) -> tuple[int, str]:
    """Waits for one of these; returns its exit code and the last line that it said."""
    try:
        _, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return 1, f"it takes longer than {seconds:.0f} s"
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return process.returncode, lines[-1] if lines else ""


def run_pytest(folder: Path) -> tuple[int, str]:
    """Runs plain pytest in a folder, as a student does; returns its exit code and output."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        command, cwd=folder, env=_environment(), capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout + done.stderr
