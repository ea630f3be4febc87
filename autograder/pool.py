"""Judges in processes of their own, behind the interface of `concurrent.futures`."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import multiprocessing
import multiprocessing.util
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Collection, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any

import msgspec

from autograder.errors import KitError
from autograder.results import Judgement
from autograder.sandbox import Station, Zygote

if TYPE_CHECKING:
    from autograder.judge import Judge

TRIES = 2
TRIM_EVERY = 20  # judgements
# files; the exercises to judge, none are all; whether to draw pictures
Work = tuple[dict[str, bytes], tuple[str, ...], bool]
_judge: Judge | None = None
_zygote: Zygote | None = None  # of this judge's own
_judgements = 0  # so far, in this process
_assignment_id = ""
_isolation = "auto"


def start(assignment_id: str, jobs: int, isolation: str = "auto") -> Pool:
    """Starts the sandbox and `jobs` judges. `isolation` is the most to try for."""
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"
    zygote = Zygote.spawn(jobs + 1, isolation)
    gc.disable()  # an import leaves little to collect, and takes an eighth longer with it
    import torch  # warm, for the judges to inherit, while the zygote does the same

    torch.set_num_threads(1)
    import autograder.judge  # noqa: F401

    gc.freeze()  # modules stay for ever: not looked through again, here and in the judges
    gc.enable()
    try:
        return Pool(assignment_id, jobs, isolation, zygote)
    except KitError:  # perhaps something has killed it
        return Pool(assignment_id, jobs, isolation, Zygote.spawn(jobs + 1, isolation))


class Pool:
    """Some judges; `submit` sends them submissions, `isolation` is the level reached."""

    def __init__(self, assignment_id: str, jobs: int, isolation: str, zygote: Zygote) -> None:
        self.zygote = zygote
        self._arguments = (assignment_id, isolation, jobs)
        self.jobs = jobs
        self._lock = threading.Lock()
        self._is_closed = False
        self._lifeline = os.pipe()  # judges end when its write end, kept here only, is closed
        self._executor: Executor = self._new_executor(zygote.channels[1:])
        self._executor.submit(_wake)  # the judges get ready while the zygote does
        try:
            self.isolation = Station(zygote.channels[0]).wait_ready()
        except KitError:
            self.close()
            raise

    def _new_executor(self, channels: list[socket.socket]) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        turn = context.Value("i", 0)
        fds = [channel.fileno() for channel in channels] if sys.platform == "linux" else []
        arguments = (*self._arguments, fds, turn, self._lifeline)
        return ProcessPoolExecutor(self.jobs, context, _begin, arguments)

    def submit(
        self, files: Mapping[str, bytes], exercises: Collection[str] = (), *, draws: bool = True
    ) -> Future[Judgement]:
        """Judges one submission, or some exercises of it; `draws` pictures of what is wrong, too.

        A judge that dies is replaced and the submission tried again.
        """
        outer: Future[Judgement] = Future()
        outer.set_running_or_notify_cancel()
        self._submit((dict(files), tuple(exercises), draws), outer, TRIES)
        return outer

    def _submit(self, work: Work, outer: Future[Judgement], tries: int) -> None:
        def settle(inner: Future[Judgement]) -> None:
            if inner.cancelled():  # the pool is closed before its turn came
                outer.set_exception(KitError("The judges were stopped."))
                return
            error = inner.exception()
            if error is None:
                outer.set_result(inner.result())
            elif isinstance(error, BrokenProcessPool) and tries > 1 and not self._is_closed:
                self._replace(executor)
                try:
                    self._submit(work, outer, tries - 1)
                except Exception as again:  # nobody would hear of it in a callback
                    outer.set_exception(again)
            else:
                outer.set_exception(error)

        executor = self._executor
        try:
            inner = executor.submit(_judge_one, *work)
        except BrokenProcessPool:
            self._replace(executor)
            executor = self._executor
            inner = executor.submit(_judge_one, *work)
        inner.add_done_callback(settle)

    def _replace(self, broken: Executor) -> None:
        """New judges in the place of broken ones; each then starts a zygote of its own."""
        with self._lock:
            if self._executor is broken:
                for channel in self.zygote.channels:  # else it would keep what they left running
                    channel.close()
                self._executor = self._new_executor([])

    def close(self) -> None:
        """Waits for what is being judged, and ends the judges and the sandbox."""
        self._is_closed = True
        self._executor.shutdown(wait=True, cancel_futures=True)
        self.zygote.close()
        for end in self._lifeline:
            os.close(end)

    def stop(self) -> None:
        """Ends the judges at once; what they were judging is lost. To be closed all the same."""
        self._is_closed = True
        read_end, write_end = self._lifeline
        os.close(write_end)
        self._lifeline = (read_end, os.dup(read_end))


def _begin(
    assignment_id: str,
    isolation: str,
    jobs: int,
    fds: list[int],
    turn: Any,
    lifeline: tuple[int, int],
) -> None:
    """First thing in a judge's process: takes one of the channels that it inherited."""
    global _assignment_id, _isolation
    _assignment_id, _isolation = assignment_id, isolation
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        threading.Thread(target=_end_with_parent, args=lifeline, daemon=True).start()
    with turn.get_lock():
        place, turn.value = turn.value, turn.value + 1
    _settle(place, jobs)
    channel = None
    for number, fd in enumerate(fds):
        if number == place:
            channel = socket.socket(fileno=fd)
        else:
            with contextlib.suppress(OSError):
                os.close(fd)
    multiprocessing.util.Finalize(None, _close_zygote, exitpriority=10)
    with contextlib.suppress(KitError):  # is said again when there is somebody to say it to
        _open(channel)


def _wake() -> None:
    """Nothing to do but to be there."""


def _settle(place: int, jobs: int) -> None:
    """Stays on one core, with its workers: they never compute at once, and it saves a tenth."""
    if sys.platform == "linux":
        cores = sorted(os.sched_getaffinity(0))
        if jobs <= len(cores) or jobs % len(cores) == 0:  # else some would wait beside idle cores
            with contextlib.suppress(OSError):  # not allowed everywhere
                os.sched_setaffinity(0, {cores[place % len(cores)]})


def _end_with_parent(read_end: int, write_end: int) -> None:
    os.close(write_end)
    os.read(read_end, 1)
    os._exit(1)


def _open(channel: socket.socket | None) -> None:
    """Makes this process's judge, with a zygote of its own if it was given no channel."""
    global _judge, _zygote
    from autograder.assignment import load
    from autograder.judge import Judge

    if _judge is not None:
        _judge.close()
        _judge = None
    if channel is None:
        _close_zygote()
        _zygote = Zygote.spawn(1, _isolation)
        channel = _zygote.channels[0]
    station = Station(channel)
    judge = Judge(load(_assignment_id), station)  # the zygote needs longer
    try:
        station.wait_ready()
    except KitError:
        judge.close()
        raise
    gc.freeze()  # nor what a judge keeps
    _judge = judge


def _close_zygote() -> None:
    if _zygote is not None:
        _zygote.close()


def _judge_one(
    files: dict[str, bytes], exercises: tuple[str, ...] = (), draws: bool = True
) -> Judgement:
    global _judgements
    texts = {name: data.decode("utf-8", "replace") for name, data in files.items()}
    started = time.monotonic()
    _judgements += 1
    if _judgements % TRIM_EVERY == 0:
        _give_back_memory()
    try:
        if _judge is None:
            raise KitError("There is no judge.")
        judgement = _judge.judge(texts, exercises, draws=draws)
    except KitError:  # the zygote died: once more with a new one
        _open(None)
        assert _judge is not None
        judgement = _judge.judge(texts, exercises, draws=draws)
    return msgspec.structs.replace(judgement, seconds=round(time.monotonic() - started, 3))


def _give_back_memory() -> None:
    """Has the C library return what it keeps of large answers; glibc only does so when asked."""
    with contextlib.suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def judge_here(
    assignment_id: str, isolation: str, files: dict[str, bytes], exercises: tuple[str, ...] = ()
) -> Judgement:
    """Judges in this very process, whose judge and zygote are kept for the next call."""
    global _assignment_id, _isolation, _judge
    import torch

    torch.set_num_threads(1)
    if (assignment_id, isolation) != (_assignment_id, _isolation):
        if _judge is not None:
            _judge.close()
            _judge = None
        _assignment_id, _isolation = assignment_id, isolation
    return _judge_one(files, exercises)
