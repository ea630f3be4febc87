"""Judges in processes of their own, behind the interface of `concurrent.futures`."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any

from autograder.errors import KitError
from autograder.results import Judgement
from autograder.sandbox import Station, Zygote

if TYPE_CHECKING:
    from autograder.judge import Judge

TRIES = 2
_judge: Judge | None = None
_assignment_id = ""
_isolation = "auto"


def start(assignment_id: str, jobs: int, isolation: str = "auto") -> Pool:
    """Starts the sandbox and `jobs` judges. `isolation` is the most to try for."""
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"
    zygote = Zygote.spawn(jobs + 1, isolation)
    import torch  # warm, for the judges to inherit, while the zygote does the same

    torch.set_num_threads(1)
    import autograder.judge  # noqa: F401

    return Pool(assignment_id, jobs, isolation, zygote)


class Pool:
    """Some judges; `submit` sends them submissions, `isolation` is the level reached."""

    def __init__(self, assignment_id: str, jobs: int, isolation: str, zygote: Zygote) -> None:
        self.zygote = zygote
        self.isolation = Station(zygote.channels[0]).wait_ready()
        self._arguments = (assignment_id, isolation)
        self._jobs = jobs
        self._lock = threading.Lock()
        self._lifeline = os.pipe()  # judges end when its write end, kept here only, is closed
        self._executor: Executor = self._new_executor(zygote.channels[1:])

    def _new_executor(self, channels: list[socket.socket]) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        turn = context.Value("i", 0)
        fds = [channel.fileno() for channel in channels] if sys.platform == "linux" else []
        arguments = (*self._arguments, fds, turn, self._lifeline)
        return ProcessPoolExecutor(self._jobs, context, _begin, arguments)

    def submit(self, files: Mapping[str, bytes]) -> Future[Judgement]:
        """Judges one submission. A judge that dies is replaced and the submission tried again."""
        outer: Future[Judgement] = Future()
        outer.set_running_or_notify_cancel()
        self._submit(dict(files), outer, TRIES)
        return outer

    def _submit(self, files: dict[str, bytes], outer: Future[Judgement], tries: int) -> None:
        def settle(inner: Future[Judgement]) -> None:
            error = inner.exception()
            if error is None:
                outer.set_result(inner.result())
            elif isinstance(error, BrokenProcessPool) and tries > 1:
                self._replace(executor)
                self._submit(files, outer, tries - 1)
            else:
                outer.set_exception(error)

        executor = self._executor
        try:
            inner = executor.submit(_judge_one, files)
        except BrokenProcessPool:
            self._replace(executor)
            executor = self._executor
            inner = executor.submit(_judge_one, files)
        inner.add_done_callback(settle)

    def _replace(self, broken: Executor) -> None:
        """New judges in the place of broken ones; each then starts a zygote of its own."""
        with self._lock:
            if self._executor is broken:
                self._executor = self._new_executor([])

    def close(self) -> None:
        self._executor.shutdown(wait=True, cancel_futures=True)
        self.zygote.close()
        for end in self._lifeline:
            os.close(end)


def _begin(
    assignment_id: str, isolation: str, fds: list[int], turn: Any, lifeline: tuple[int, int]
) -> None:
    """First thing in a judge's process: takes one of the channels that it inherited."""
    global _assignment_id, _isolation
    _assignment_id, _isolation = assignment_id, isolation
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        threading.Thread(target=_end_with_parent, args=lifeline, daemon=True).start()
    with turn.get_lock():
        place, turn.value = turn.value, turn.value + 1
    channel = None
    for number, fd in enumerate(fds):
        if number == place:
            channel = socket.socket(fileno=fd)
        else:
            with contextlib.suppress(OSError):
                os.close(fd)
    _open(channel)


def _end_with_parent(read_end: int, write_end: int) -> None:
    os.close(write_end)
    os.read(read_end, 1)
    os._exit(1)


def _open(channel: socket.socket | None) -> None:
    """Makes this process's judge, with a zygote of its own if it was given no channel."""
    global _judge
    from autograder.assignment import load
    from autograder.judge import Judge

    channel = channel or Zygote.spawn(1, _isolation).channels[0]
    station = Station(channel)
    station.wait_ready()
    _judge = Judge(load(_assignment_id), station)


def _judge_one(files: dict[str, bytes]) -> Judgement:
    texts = {name: data.decode("utf-8", "replace") for name, data in files.items()}
    assert _judge is not None
    try:
        return _judge.judge(texts)
    except KitError:  # the zygote died: once more with a new one
        _judge.close()
        _open(None)
        return _judge.judge(texts)
