"""A submission as tests see it: the fixture `submission` of every graded test.

Its attributes are the student's names (see `proxies`); behind them is a worker that speaks
`protocol`. Nothing the worker says is believed beyond the values it sends.
"""

from __future__ import annotations

import select
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import torch

from autograder import protocol
from autograder.budget import Budget
from autograder.errors import KitError
from autograder.proxies import Made, RemoteName, Unpacker
from autograder.sandbox import Station, Worker
from autograder.student_errors import MissingName, Stopped, StudentError, read_error
from autograder.supplying import Supplier

STARTING = "starting"


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
        self._budget = Budget(setup.test_seconds)
        self._charge = 0.0
        self._variants: list[Submission] = []
        self._generation = 0
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
        self._budget = Budget(self._setup.test_seconds)
        self._supplier.begin_test()

    def take_charge(self) -> float:
        """Seconds that tests were charged since this was last called."""
        charge, self._charge = self._charge, 0.0
        return charge

    def end_test(self) -> None:
        for variant in self._variants:
            variant.close()
            self._charge += variant.take_charge()
        self._variants.clear()
        if any(request["op"] == "make" for request in self._deferred):
            try:
                self.exchange({"op": "nothing"})
            except (StudentError, Stopped, KitError):  # a broken station says so itself
                self.is_misled = True
        self._forget_deferred()  # for modules that nobody holds any more
        self._supplier.end_test()
        self._charge += self._budget.charge()
        self._budget = Budget(self._setup.test_seconds)

    def close(self) -> None:
        self._forget_deferred()
        self.end_test()
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
            budget = Budget(self._setup.import_seconds)  # imports have one of their own
            try:
                if file not in self._setup.files and module not in self._setup.stand_ins:
                    raise MissingName("FileNotFoundError", f"There is no {file}.", [])
                request = {"op": "load", "module": module, "names": names}
                reply, _ = self.exchange(request, budget=budget, during=f"importing {file}")
            except (StudentError, Stopped) as error:
                self._failed[module] = error
                raise
            lacks = reply.get("missing")
            if not isinstance(lacks, list) or not all(isinstance(n, str) for n in lacks):
                self.violated("a list of names that is none")
            self._loaded[module] = set(lacks)
        return self._loaded[module]

    def exchange(
        self,
        envelope: dict[str, Any],
        packer: protocol.Packer | None = None,
        budget: Budget | None = None,
        during: str = "",
    ) -> tuple[dict[str, Any], Unpacker]:
        """One request, one reply. Answers what the worker asks in between.

        Raises `StudentError` for what student code raised, `Stopped` for the end of the worker.
        """
        budget = self._budget if budget is None else budget
        worker = self._open()
        link = worker.link
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
        budget.begin(worker)
        try:
            protocol.send(link, envelope, packer, budget.until())
            while True:
                reply, payload = protocol.receive(link, _await_reply(link, budget))
                if "ask" not in reply and "ask_grads" not in reply:
                    break
                if budget.left() <= 0.0 and budget.is_over():
                    raise protocol.Late
                self._supplier.answer(link, reply, payload, budget.until())
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
        finally:
            budget.end()
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

    def violated(self, why: str) -> NoReturn:
        self.close()
        raise Stopped(f"The process of your code broke the rules of the exchange: {why}.")

    def _open(self) -> Worker:
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
            budget = Budget(max(self._setup.import_seconds, self._setup.test_seconds))
            self.exchange(begin, budget=budget, during=STARTING)
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


def _await_reply(link: socket.socket, budget: Budget) -> float:
    """Waits until there is something to read; returns until when it must have been read."""
    while not select.select([link], [], [], budget.pause())[0]:
        if budget.is_over():
            raise protocol.Late
    return budget.until()


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
