"""The zygote: imports torch once, then forks a worker for every submission that asks.

It never runs student code and knows no test. Each channel leads to one judge and carries small
JSON messages, one a packet:

    judge -> zygote   {"number": 7, "limits": {...}, "preload": ["einops"], "cores": [0]}
                      and the worker's socket
    zygote -> judge   {"ready": "full"}
                      {"number": 7, "started": pid} and, on Linux, a pidfd of the worker
                      {"number": 7, "refused": "why"}
                      {"number": 7, "ended": exit code, "too_much": whether it held too much memory}
"""

from __future__ import annotations

import array
import contextlib
import gc
import importlib
import json
import os
import resource
import selectors
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.worker import box, memory, scratch, syscalls

PRELOADABLE = {"matplotlib", "einops"}
MESSAGE = 65536
PRESENT = 512 << 20  # what torch itself holds, roughly


def main(config: str) -> None:
    settings = json.loads(config)
    channels = [socket.socket(fileno=fd) for fd in settings["channels"]]
    Zygote(channels, settings["isolation"], settings["view"]).run()


def send(channel: socket.socket, message: dict[str, Any], *fds: int) -> None:
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    with contextlib.suppress(OSError):  # the judge is gone: its channel will say so
        channel.sendmsg([json.dumps(message).encode()], rights)


@dataclass(frozen=True)
class Fork:
    """A worker: whose it is, and its limits."""

    channel: socket.socket
    number: int
    limits: dict[str, int]

    def process_limits(self) -> dict[str, int]:
        """The limits of one process: what torch itself has mapped does not count."""
        together = self.limits["memory_bytes"]
        return self.limits | {"memory_bytes": together + _address_space() if together > 0 else -1}


class Zygote:
    """One warm process for all `channels`; each worker is a fork of it."""

    def __init__(self, channels: list[socket.socket], isolation: str, view: list[str]) -> None:
        self.channels = channels
        self.view = view
        self.scratch = ""
        self.level = "full"
        self.level = self._find_level(isolation, view)
        self.workers: dict[int, Fork] = {}
        self.too_much: set[int] = set()  # pids of workers that held too much memory
        self._watched_at = 0.0

    def _find_level(self, isolation: str, view: list[str]) -> str:
        """`full` where it can be had, found by doing it once."""
        if sys.platform != "linux":
            return "process"
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")  # where memory runs out, workers go first
        if isolation == "process":
            box.prctl(box.PR_SET_CHILD_SUBREAPER, 1)
            return "process"
        box.die_with_parent()
        if isolation == "full":  # "boxed": bubblewrap has built the outer box
            child = self._fork(os.fork, lambda: box.enclose(view))
            if os.waitpid(child, 0)[1] == 0:
                box.enclose(view)
        limits = {"cpu_seconds": 5, "memory_bytes": -1, "processes": 64, "file_bytes": 1 << 20}
        with contextlib.suppress(OSError):
            child = self._fork(box.fork_inside, lambda: box.seal(0, limits, view))
            if os.waitpid(child, 0)[1] == 0:
                return "full"
        return "refused" if box.is_real_root() and not _can_be_nobody() else "process"

    def run(self) -> None:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        gc.disable()  # an import leaves little to collect, and takes an eighth longer with it
        from autograder.worker import serve  # warm, for the forks

        serve.warm_up()
        if self.level == "process":
            self.scratch = scratch.make()
        gc.freeze()
        gc.enable()
        if sys.platform == "linux":
            memory.collapse()
        selector = selectors.DefaultSelector()
        wake, woken = os.pipe()
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        selector.register(wake, selectors.EVENT_READ)
        for channel in self.channels:
            selector.register(channel, selectors.EVENT_READ)
            send(channel, {"ready": self.level})
        proc = os.open("/proc", os.O_RDONLY) if self.level == "full" else -1
        while self.channels:
            for key, _ in selector.select(memory.LOOK_SECONDS if self.workers else None):
                if key.fileobj == wake:
                    os.read(wake, 4096)
                elif isinstance(key.fileobj, socket.socket) and not self._serve(key.fileobj):
                    selector.unregister(key.fileobj)
                    self.channels.remove(key.fileobj)
                    self._end_workers_of(key.fileobj)
            self._reap()
            self._watch(proc)
        if self.level == "process":
            for pid in list(self.workers):
                self._kill_orphans(pid)
        if self.scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)

    def _serve(self, channel: socket.socket) -> bool:
        """Answers one message; False when the judge at the other end is gone."""
        try:
            text, fds, _, _ = socket.recv_fds(channel, MESSAGE, 1)
        except OSError:
            return False
        if not text or not fds:
            return False
        order = json.loads(text)
        number = int(order["number"])
        for name in order["preload"]:
            if name in PRELOADABLE:
                with contextlib.suppress(Exception):
                    importlib.import_module("matplotlib.pyplot" if name == "matplotlib" else name)
        link = socket.socket(fileno=fds[0])

        fork = Fork(channel, number, order["limits"])

        def work() -> None:
            from autograder.worker import serve

            with contextlib.suppress(OSError, KeyError):  # not allowed, or not Linux
                os.sched_setaffinity(0, order["cores"])
            self._close_in(fork)
            serve.run(link, os.path.join(self._home(number), "submission"))

        try:
            pid = self._fork(box.fork_inside if self.level == "full" else os.fork, work)
        except OSError as error:
            send(channel, {"number": number, "refused": str(error)})
            return True
        finally:
            link.close()
        self.workers[pid] = fork
        handles = [os.pidfd_open(pid)] if hasattr(os, "pidfd_open") else []
        send(channel, {"number": number, "started": pid}, *handles)
        for handle in handles:
            os.close(handle)
        return True

    def _fork(self, fork: Callable[[], int], task: Callable[[], None]) -> int:
        pid = fork()
        if pid:
            return pid
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            task()
            status = 0
        except OSError:
            status = box.REFUSED
        finally:
            os._exit(status)

    def _close_in(self, fork: Fork) -> None:
        """In the fork: shuts the door behind it."""
        os.setsid()
        if self.level == "full":
            box.seal(fork.number, fork.process_limits(), self.view)
            return
        home = self._home(fork.number)
        os.mkdir(home, 0o700)
        if box.is_real_root() and _can_be_nobody():
            os.chown(home, box.user_of(fork.number), box.user_of(fork.number))
            box.become_nobody(fork.number)
        limits = fork.process_limits()
        limits["processes"] += box.count_tasks(os.geteuid())
        box.apply_limits(limits)
        if sys.platform == "linux":
            box.prctl(box.PR_SET_NO_NEW_PRIVS, 1)
            box.die_with_parent()
            with contextlib.suppress(OSError):
                syscalls.deny()

    def _home(self, number: int) -> str:
        """A worker's folder: the only one it can write to; at level `full` no other sees it."""
        return box.HOME if self.level == "full" else os.path.join(self.scratch, str(number))

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self.workers:
                fork = self.workers.pop(pid)
                if self.level == "process":
                    self._kill_orphans(pid)
                    shutil.rmtree(self._home(fork.number), ignore_errors=True)
                code = _exit_code(status, usage, fork.limits["cpu_seconds"])
                message = {"number": fork.number, "ended": code, "too_much": pid in self.too_much}
                self.too_much.discard(pid)
                send(fork.channel, message)

    def _watch(self, proc: int) -> None:
        """Ends workers whose processes hold too much memory together."""
        if proc < 0 or time.monotonic() < self._watched_at + memory.LOOK_SECONDS:
            return
        self._watched_at = time.monotonic()
        for pid, fork in self.workers.items():
            limit = fork.limits["memory_bytes"]
            if limit > 0 and memory.is_beyond(pid, limit + PRESENT, proc):
                self.too_much.add(pid)
                os.kill(pid, signal.SIGKILL)  # ours and not yet waited for: still this process

    def _end_workers_of(self, channel: socket.socket) -> None:
        """When a judge is gone, nobody else stops what it has started."""
        for pid, fork in self.workers.items():
            if fork.channel is channel:
                os.kill(pid, signal.SIGKILL)

    def _kill_orphans(self, session: int) -> None:
        """What a dead worker left behind: its process group, and strays that came to us."""
        with contextlib.suppress(OSError):
            os.killpg(session, signal.SIGKILL)
        if sys.platform != "linux":
            return
        with (
            contextlib.suppress(OSError),
            open(f"/proc/self/task/{os.getpid()}/children") as file,
        ):
            for child in map(int, file.read().split()):
                if child not in self.workers:
                    os.kill(child, signal.SIGKILL)


def _exit_code(status: int, usage: resource.struct_rusage, cpu_seconds: int) -> int:
    """The exit code, or 128 + n for signal n; the kill at the limit of computing time as SIGXCPU.

    The first process of a namespace cannot receive SIGXCPU itself, so its limit ends in SIGKILL.
    On a busy machine the kernel counts ticks for the limit that the process did not have, a third
    more than it says afterwards.
    """
    code = os.waitstatus_to_exitcode(status)
    used = usage.ru_utime + usage.ru_stime
    if code in (-signal.SIGKILL, 128 + signal.SIGKILL) and used >= cpu_seconds / 2:
        return 128 + signal.SIGXCPU
    return code if code >= 0 else 128 - code


def _address_space() -> int:
    """Bytes of address space in use here."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 8 << 30


def _can_be_nobody() -> bool:
    """Whether a throw-away user could still read Python's own files."""
    for folder in (sys.prefix, sys.base_prefix):
        while True:
            if os.stat(folder).st_mode & 0o005 != 0o005:
                return False
            if folder == os.path.dirname(folder):
                break
            folder = os.path.dirname(folder)
    return True
