"""A submission as tests see it: the fixture `submission` of every graded test.

Its attributes are the student's names (see `proxies`); behind them is a worker that speaks
`protocol`. Nothing the worker says is believed beyond the values it sends.
"""

from __future__ import annotations

import math
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import torch

from autograder import protocol
from autograder.errors import KitError
from autograder.proxies import Made, RemoteName, Unpacker
from autograder.sandbox import Station, Worker
from autograder.student_errors import MissingName, Stopped, StudentError, read_error
from autograder.supplying import Supplier

STARTING = "starting"
PATIENCE = 8  # times its limit that a test may take where others use the processor


class Setup:
    """Everything a worker is started with: files, limits, and what is put in place of what."""

    def __init__(
        self,
        files: Mapping[str, str],
        homes: Mapping[str, str],
        limits: Mapping[str, int],
        import_seconds: float,
        test_seconds: float,
        blocked: Sequence[str] = (),
        spared: Sequence[str] = (),
        stand_ins: Mapping[str, dict[str, Any]] | None = None,
        supply: Callable[..., Any] | None = None,
    ) -> None:
        self.files = dict(files)
        self.homes = dict(homes)  # name -> file that defines it
        self.limits = dict(limits)
        self.import_seconds = import_seconds
        self.test_seconds = test_seconds
        self.blocked = list(blocked)  # names that raise when they are used
        self.spared = list(spared)  # names whose first use ends the worker
        self.stand_ins = dict(stand_ins or {})
        self.supply = supply

    def without(self, paths: Sequence[str]) -> Setup:
        changed = Setup.__new__(Setup)
        changed.__dict__ = self.__dict__ | {"blocked": [*self.blocked, *paths], "spared": []}
        return changed


def is_over(limit: float, used: float, spent: float, is_idle: Callable[[], bool]) -> bool:
    """Whether time is up for code that has computed for `used` seconds in `spent`.

    Its limit is one of computing, since a busy machine is no fault of the student's; up to
    `PATIENCE` times as much may go by. Code that sleeps has no more than the limit.
    """
    if used > limit or spent > PATIENCE * limit:
        return True
    return spent > limit and used < 0.05 * spent and is_idle()


class Submission:
    """The student's names, as attributes. One worker serves it until that worker ends."""

    def __init__(self, station: Station, setup: Setup) -> None:
        self._station = station
        self._setup = setup
        self._worker: Worker | None = None
        self._loaded: dict[str, set[str]] = {}
        self._failed: dict[str, StudentError | Stopped] = {}
        self._dropped: list[int] = []
        self._deferred: list[dict[str, Any]] = []
        self._packed: protocol.Packer | None = None  # what deferred requests hold
        self._exchanges = 0
        self._deadline = math.inf
        self._variants: list[Submission] = []
        self._generation = 0
        self._counted_until = self._began = self._used_before = 0.0
        self._used_by_ended = 0.0  # seconds of processor time, of workers that are no more
        self._supplier = Supplier(setup.supply)
        self.sources = dict(setup.files)
        self.habits: dict[str, set[str]] = {}  # name -> what its last module was asked for
        self.made: dict[str, Made] = {}  # call -> what its modules are like
        # Where a call made a module once, the next one is made with whatever is asked of it first.
        self.makes_later = False
        self.is_misled = False  # one so made was unlike the first: no result is worth anything
        self._last_handle = 0

    # --- for tests ------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> RemoteName:
        if name.startswith("_") or name not in self._setup.homes:
            raise AttributeError(name)
        return RemoteName(self, self._setup.homes[name].removesuffix(".py"), name)

    def without(self, *paths: str) -> Submission:
        """The same code in a fresh worker in which using any of `paths` raises.

        Where the worker is spared them all, that is this one.
        """
        if paths and set(paths) <= set(self._setup.spared):
            return self
        variant = Submission(self._station, self._setup.without(paths))
        variant._deadline = self._deadline
        self._variants.append(variant)
        return variant

    @property
    def is_spared(self) -> bool:
        """Whether its worker ends when it uses certain names."""
        return bool(self._setup.spared)

    def take_asked(self) -> bool:
        """Whether a stand-in has asked for a value since this was last called."""
        was_asked, self._supplier.was_asked = self._supplier.was_asked, False
        return was_asked

    # --- for the judge --------------------------------------------------------------------------

    def begin_test(self) -> None:
        """Gives the next test its time."""
        self._deadline = time.monotonic() + self._setup.test_seconds
        self._supplier.begin_test()

    def computing_seconds(self) -> float:
        """Processor time that its workers have used up to now."""
        used = self._worker.computing_seconds() if self._worker else 0.0
        return self._used_by_ended + (used or 0.0)

    def end_test(self) -> None:
        for variant in self._variants:
            variant.close()
            self._used_by_ended += variant.computing_seconds()
        self._variants.clear()
        if any(request["op"] == "make" for request in self._deferred):
            try:
                self.exchange({"op": "nothing"})
            except (StudentError, Stopped, KitError):  # a broken station says so itself
                self.is_misled = True
        self._forget_deferred()  # for modules that nobody holds any more
        self._supplier.end_test()

    def close(self) -> None:
        self._forget_deferred()
        self.end_test()
        self._used_by_ended = self.computing_seconds()
        if self._worker is not None:
            self._worker.kill()
            self._worker = None
        self._loaded.clear()
        self._dropped.clear()
        self.made.clear()
        self._generation += 1

    def is_alive(self) -> bool:
        """Whether its worker is still the first one, or none was needed yet."""
        return self._generation == 0

    def import_error(self, file: str) -> StudentError | Stopped | None:
        """Why a file cannot be imported, or None."""
        try:
            self.load(file.removesuffix(".py"))
        except (StudentError, Stopped) as error:
            return error
        return None

    # --- requests -------------------------------------------------------------------------------

    def load(self, module: str) -> set[str]:
        """Imports one of the student's files in the worker, once; returns the names it lacks."""
        if module in self._failed:
            raise self._failed[module]
        if module not in self._loaded:
            file = module + ".py"
            names = [name for name, home in self._setup.homes.items() if home == file]
            started = time.monotonic()
            deadline = started + self._setup.import_seconds
            try:
                if file not in self._setup.files and module not in self._setup.stand_ins:
                    raise MissingName("FileNotFoundError", f"There is no {file}.", [])
                request = {"op": "load", "module": module, "names": names}
                reply, _ = self.exchange(request, deadline=deadline, during=f"importing {file}")
            except (StudentError, Stopped) as error:
                self._failed[module] = error
                raise
            lacks = reply.get("missing")
            if not isinstance(lacks, list) or not all(isinstance(n, str) for n in lacks):
                self.violated("a list of names that is none")
            self._loaded[module] = set(lacks)
            self._deadline += time.monotonic() - started  # imports have a budget of their own
        return self._loaded[module]

    def exchange(
        self,
        envelope: dict[str, Any],
        packer: protocol.Packer | None = None,
        deadline: float | None = None,
        during: str = "",
    ) -> tuple[dict[str, Any], Unpacker]:
        """One request, one reply. Answers what the worker asks in between.

        Raises `StudentError` for what student code raised, `Stopped` for the end of the worker.
        """
        deadline = self._deadline if deadline is None else deadline
        if deadline != self._counted_until:  # another test, or an import, begins
            self._counted_until, self._began = deadline, time.monotonic()
            used = self._worker.computing_seconds() if self._worker else 0.0
            self._used_before = used or 0.0
        link = self._open(deadline).link
        if _has_waiting(link):
            self.violated("it spoke without having been asked")
        if self._dropped:
            envelope["drop"] = self._dropped[:1000]
            del self._dropped[:1000]
        first = [request["op"] for request in self._deferred]
        if first:
            envelope["first"], packer = self._deferred[:], packer or self._packed
            self._forget_deferred()
        self._exchanges += 1
        envelope.setdefault("grad", torch.is_grad_enabled())
        try:
            protocol.send(link, envelope, packer, deadline)
            while True:
                reply, payload = protocol.receive(link, self._await_reply(link, deadline))
                if "ask" not in reply and "ask_grads" not in reply:
                    break
                self._supplier.answer(link, reply, payload, deadline)
        except (protocol.Late, protocol.Closed) as error:
            if during == STARTING:  # before the first line of student code: no fault of theirs
                self.close()
                self._station.is_broken = True
                raise KitError("The sandbox could not start a process for a submission.") from None
            if isinstance(error, protocol.Closed):
                self._explain_end()
            self.close()
            raise Stopped(
                f"Your code was still running after {_limit(self, during)}.", "timed_out"
            ) from None
        except protocol.Violation as error:
            self.violated(str(error))
        if "error" in reply:
            self.is_misled |= "make" in first and reply.get("early") is True
            self._raise(reply["error"])
        return reply, Unpacker(self, payload)

    def packer(self) -> protocol.Packer:
        """For the values of the next request."""
        return self._packed or protocol.Packer()

    def new_handle(self) -> int:
        """For a module that the worker will make; none that it has is called so."""
        return self.note_handle(self._last_handle + 1)

    def note_handle(self, handle: int) -> int:
        self._last_handle = max(self._last_handle, handle)
        return handle

    def defer(self, envelope: dict[str, Any], packer: protocol.Packer | None = None) -> None:
        """Has something done before the next request is; what it raises, that request raises."""
        self._deferred.append(envelope)
        if packer is not None:
            packer.hold()
            self._packed = packer
        # What was sent ahead may be of modules that share the values that this changes.
        self._exchanges += envelope["op"] != "switch"

    def _forget_deferred(self) -> None:
        self._deferred.clear()
        self._packed = None

    def _await_reply(self, link: socket.socket, deadline: float) -> float:
        """Waits until there is something to read; returns until when it must have been read.

        The time of a test is time that its code can use. Where the machine is busy with other
        things, a worker that computes gets more, up to `PATIENCE` times as much; one that sleeps
        does not.
        """
        assert self._worker is not None
        limit = deadline - self._began
        while True:
            left = deadline - time.monotonic()
            if left > 0 and select.select([link], [], [], left)[0]:
                return max(deadline, time.monotonic() + 1.0)
            used = self._worker.computing_seconds()
            spent = time.monotonic() - self._began
            if used is None:
                raise protocol.Late
            used -= self._used_before
            if is_over(limit, used, spent, self._worker.is_idle):
                raise protocol.Late
            deadline = time.monotonic() + max(0.05, min(limit - used, spent))

    def violated(self, why: str) -> NoReturn:
        self.close()
        raise Stopped(f"The process of your code broke the rules of the exchange: {why}.")

    def _open(self, deadline: float) -> Worker:
        if self._worker is None:
            text = "\n".join(self._setup.files.values())
            preload = [name for name in ("matplotlib", "einops") if name in text]
            self._worker = self._station.start(self._setup.limits, preload)
            begin = {
                "op": "begin",
                "files": self._setup.files,
                "blocked": self._setup.blocked,
                "spared": self._setup.spared,
                "stand_ins": self._setup.stand_ins,
            }
            grace = max(deadline, time.monotonic() + self._setup.import_seconds)
            self.exchange(begin, deadline=grace, during=STARTING)
        return self._worker

    def _explain_end(self) -> NoReturn:
        worker = self._worker
        assert worker is not None
        code = worker.how_it_ended()
        self.close()
        if code is None and self._station.is_broken:
            raise KitError("The sandbox ended while it ran a submission.")
        cpu = self._setup.limits["cpu_seconds"]
        if code == 128 + signal.SIGXCPU:
            raise Stopped(f"Your code used more than {cpu} seconds of computing time.", "timed_out")
        if code == 128 + signal.SIGKILL:
            self._station.kills += not worker.held_too_much
            raise Stopped("Your code was ended for using too much memory.", "out_of_memory")
        if code == 128 + signal.SIGSEGV:
            raise Stopped("The Python process of your code crashed (segmentation fault).")
        if code == 128 + signal.SIGABRT:
            raise Stopped("The Python process of your code aborted.")
        raise Stopped(
            "Your code ended the Python process in the middle of a test (exit, or a crash)."
        )

    def _raise(self, error: object) -> NoReturn:
        mib = self._setup.limits["memory_bytes"] >> 20
        try:
            found = read_error(error, self._setup.files, mib)
        except protocol.Violation as violation:
            self.violated(str(violation))
        raise found


def _has_waiting(link: socket.socket) -> bool:
    """Whether there is something to read, though nothing was asked."""
    try:
        link.settimeout(0)
        return bool(link.recv(1, socket.MSG_PEEK))
    except OSError:
        return False


def _limit(submission: Submission, during: str) -> str:
    setup = submission._setup
    seconds = setup.import_seconds if during else setup.test_seconds
    return f"{seconds:g} seconds" + (f" of {during}" if during else "")
