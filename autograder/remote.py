"""What a test holds in its hands: ordinary-looking functions and modules that live elsewhere.

`Submission` is the fixture of every graded test. `submission.MultiHeadAttention(12, 3)` constructs
the student's class in a sandboxed worker and returns a `RemoteModule`; calling that runs the
student's `forward` there and returns a tensor made here from checked bytes. Gradients cross as
well. Nothing the worker says is believed beyond the values it sends.

What student code raises is raised here as `StudentError`, which is also the builtin type that it
was there (so `pytest.raises(ValueError)` works). A worker that dies, hangs, runs out of memory or
breaks the protocol raises a `Stopped`, which `except Exception` does not catch.
"""

from __future__ import annotations

import builtins
import math
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from autograder import protocol
from autograder.errors import KitError
from autograder.results import Verdict
from autograder.sandbox import Station, Worker

Frame = tuple[str, int, str]  # file, line, text of the line
STARTING = "starting"
PATIENCE = 8  # times its limit that a test may take where others use the processor
MAX_ASKS = 200  # questions of stand-ins in one test
MAX_ASKED_SIZE = 1 << 24  # multiplications, roughly, that one question may cost
MEMORY_SIGNS = ("can't allocate memory", "cannot allocate memory", "not enough memory", "bad_alloc")


class StudentError(Exception):
    """Student code raised: `type_name`, `message`, and the `frames` that are the student's own.

    `builtin` is the builtin type that it was: unlike the other two, no text of the worker's choice.
    """

    builtin = "Exception"

    def __init__(
        self, type_name: str, message: str, frames: Sequence[Frame], builtin: str = "Exception"
    ) -> None:
        super().__init__(f"{type_name}: {message}")
        self.type_name = type_name
        self.message = message
        self.frames = list(frames)
        self.builtin = builtin


class MissingName(StudentError):
    """The submission does not define a name, or has no such file."""


class Stopped(BaseException):
    """The worker came to an end: `verdict` and a `message` for the student."""

    def __init__(self, message: str, verdict: Verdict = "crashed") -> None:
        super().__init__(message)
        self.message = message
        self.verdict = verdict


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
        stand_ins: Mapping[str, dict[str, Any]] | None = None,
        supply: Callable[..., Any] | None = None,
    ) -> None:
        self.files = dict(files)
        self.homes = dict(homes)  # name -> file that defines it
        self.limits = dict(limits)
        self.import_seconds = import_seconds
        self.test_seconds = test_seconds
        self.blocked = list(blocked)
        self.stand_ins = dict(stand_ins or {})
        self.supply = supply

    def without(self, paths: Sequence[str]) -> Setup:
        changed = Setup.__new__(Setup)
        changed.__dict__ = self.__dict__ | {"blocked": [*self.blocked, *paths]}
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
        self._exchanges = 0
        self._deadline = math.inf
        self._variants: list[Submission] = []
        self._generation = 0
        self._counted_until = self._began = self._used_before = 0.0
        self._asks = 0
        self.was_asked = False
        self._supplied: dict[int, tuple[Tensor, list[Tensor]]] = {}
        self.sources = dict(setup.files)

    # --- for tests ------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> RemoteName:
        if name.startswith("_") or name not in self._setup.homes:
            raise AttributeError(name)
        return RemoteName(self, self._setup.homes[name].removesuffix(".py"), name)

    def without(self, *paths: str) -> Submission:
        """The same code in a fresh worker in which using any of `paths` raises."""
        variant = Submission(self._station, self._setup.without(paths))
        variant._deadline = self._deadline
        self._variants.append(variant)
        return variant

    # --- for the judge --------------------------------------------------------------------------

    def begin_test(self) -> None:
        """Gives the next test its time."""
        self._deadline = time.monotonic() + self._setup.test_seconds
        self._asks = 0

    def end_test(self) -> None:
        for variant in self._variants:
            variant.close()
        self._variants.clear()
        self._supplied.clear()

    def close(self) -> None:
        self.end_test()
        if self._worker is not None:
            self._worker.kill()
            self._worker = None
        self._loaded.clear()
        self._dropped.clear()
        self._deferred.clear()
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
        if self._deferred:
            envelope["first"] = self._deferred[:]
            self._deferred.clear()
        self._exchanges += 1
        envelope.setdefault("grad", torch.is_grad_enabled())
        try:
            protocol.send(link, envelope, packer, deadline)
            while True:
                reply, payload = protocol.receive(link, self._await_reply(link, deadline))
                if "ask" not in reply and "ask_grads" not in reply:
                    break
                self._answer(link, reply, payload, deadline)
        except protocol.Late:
            self.close()
            raise Stopped(
                f"Your code was still running after {_limit(self, during)}.", "timed_out"
            ) from None
        except protocol.Closed:
            if during == STARTING:  # before the first line of student code: no fault of theirs
                self.close()
                raise KitError("The sandbox could not start a process for a submission.") from None
            self._explain_end()
        except protocol.Violation as error:
            self.violated(str(error))
        if "error" in reply:
            self._raise(reply["error"])
        return reply, Unpacker(self, payload)

    def defer(self, envelope: dict[str, Any]) -> None:
        """Has something done before the next request is; what it raises, that request raises."""
        self._deferred.append(envelope)

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
            if used is None or spent > PATIENCE * limit:
                raise protocol.Late
            used -= self._used_before
            if used > limit or used < 0.05 * spent:
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
        cpu = self._setup.limits["cpu_seconds"]
        if code == 128 + signal.SIGXCPU:
            raise Stopped(f"Your code used more than {cpu} seconds of computing time.", "timed_out")
        if code == 128 + signal.SIGKILL:
            raise Stopped("Your code was ended for using too much memory.", "out_of_memory")
        if code == 128 + signal.SIGSEGV:
            raise Stopped("The Python process of your code crashed (segmentation fault).")
        if code == 128 + signal.SIGABRT:
            raise Stopped("The Python process of your code aborted.")
        raise Stopped(
            "Your code ended the Python process in the middle of a test (exit, or a crash)."
        )

    def _raise(self, error: object) -> NoReturn:
        match error:
            case {
                "type": str(type_name),
                "message": str(message),
                "bases": list(bases),
                "frames": list(frames),
            }:
                pass
            case _:
                self.violated("an exception in no known form")
        if type_name == "MemoryError" or (
            "RuntimeError" in bases and any(sign in message for sign in MEMORY_SIGNS)
        ):
            mib = self._setup.limits["memory_bytes"] >> 20
            raise Stopped(
                f"Your code asked for more memory than the {mib} MiB it may use.", "out_of_memory"
            )
        own = [found for frame in frames[:8] if (found := self._frame(frame)) is not None]
        error_class = _error_class(bases)
        text = protocol.printable(message[:2000])
        raise error_class(protocol.printable(type_name[:100]), text, own, error_class.builtin)

    def _frame(self, frame: object) -> Frame | None:
        """A frame as far as the submission itself bears it out: its file, its line, its text."""
        match frame:
            case [str(file), int(line), str(), str()] if file in self._setup.files:
                lines = self._setup.files[file].splitlines()
                if 1 <= line <= len(lines):
                    return file, line, lines[line - 1].strip()[:200]
        return None

    # --- supplied values ------------------------------------------------------------------------

    def _answer(
        self, link: Any, request: dict[str, Any], payload: bytearray, deadline: float
    ) -> None:
        """Answers a stand-in's question with a right value, computed here by the reference."""
        self._asks += 1
        self.was_asked = True
        if self._setup.supply is None or self._asks > MAX_ASKS:
            raise protocol.Violation("a question where none may be asked, or too many")
        packer = protocol.Packer()
        try:
            value, graph = self._supply(request, payload)
        except protocol.Violation:
            raise
        except Exception as error:  # the question was wrong, not the grader
            protocol.send(link, {"refused": f"{error}"[:500]}, None, deadline)
            return
        reply = {"value": packer.pack(value), "graph": graph}
        protocol.send(link, reply, packer, deadline)

    def _supply(self, request: dict[str, Any], payload: bytearray) -> tuple[Any, int | None]:
        assert self._setup.supply is not None
        unpacker = protocol.Unpacker(payload)
        flagged = _Flagged(payload)
        match request:
            case {"ask": str(path), "parts": [made_with, state, args, kwargs], "grad": bool(grad)}:
                parts = [flagged.unpack(part) for part in (made_with, state, args, kwargs)]
                if _cost_of(parts) > MAX_ASKED_SIZE:
                    raise ValueError("sizes far beyond what this assignment needs")
                with torch.set_grad_enabled(grad):
                    value = self._setup.supply(path, *parts)
                if isinstance(value, Tensor) and value.requires_grad:
                    self._supplied[len(self._supplied)] = (value, flagged.tensors)
                    return value, len(self._supplied) - 1
                return value, None
            case {"ask_grads": int(graph), "parts": [grad_value]} if graph in self._supplied:
                value, tensors = self._supplied[graph]
                received = unpacker.unpack(grad_value)
                with torch.enable_grad():
                    total = (value * received).sum()
                grads = torch.autograd.grad(total, tensors, retain_graph=True, allow_unused=True)
                return list(grads), None
        raise protocol.Violation("a question in no known form")


class RemoteName:
    """A function or class of the student's; calling it calls it in the worker."""

    def __init__(self, owner: Submission, module: str, name: str) -> None:
        self._owner = owner
        self._module = module
        self._name = name

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if self._name in self._owner.load(self._module):
            raise MissingName(
                "AttributeError", f"{self._module}.py does not define {self._name}.", []
            )
        target = {"module": self._module, "name": self._name}
        return _call(self._owner, target, args, kwargs, {})


class RemoteModule:
    """An `nn.Module` of the student's, kept in the worker."""

    def __init__(self, owner: Submission, handle: int, class_name: str) -> None:
        self._owner = owner
        self._handle = handle
        self._generation = owner._generation
        self._mirrors: dict[str, nn.Parameter] = {}
        self._ahead: tuple[int, Unpacker, dict[str, Any]] | None = None
        self.class_name = class_name
        self.training = True

    def __del__(self) -> None:
        if self._generation == self._owner._generation:
            self._owner._dropped.append(self._handle)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        mirrors = self._mirrors if torch.is_grad_enabled() else {}
        return _call(self._owner, self._target(), args, kwargs, mirrors)

    def state_dict(self) -> dict[str, Tensor]:
        return self._named("state_dict")

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        yield from self._named("named_buffers").items()

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Copies of the parameters; gradients of later calls of this module arrive in them."""
        values = self._named("named_parameters")
        for name, value in values.items():
            differentiable = getattr(value, "remote_requires_grad", False)
            if name not in self._mirrors and value.dtype.is_floating_point:
                self._mirrors[name] = nn.Parameter(value, requires_grad=differentiable)
        yield from [(name, self._mirrors[name]) for name in values if name in self._mirrors]

    def parameters(self) -> Iterator[nn.Parameter]:
        for _, parameter in self.named_parameters():
            yield parameter

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        packer = protocol.Packer()
        packed = packer.pack(dict(state))
        request = self._target() | {"op": "load_state", "state": packed}
        self._owner.exchange(request, packer)
        with torch.no_grad():
            for name, mirror in self._mirrors.items():
                if name in state and state[name].shape == mirror.shape:
                    mirror.copy_(state[name])

    def train(self, mode: bool = True) -> RemoteModule:
        self.training = mode
        return self._switch("train" if mode else "eval")

    def eval(self) -> RemoteModule:
        return self.train(False)

    def double(self) -> RemoteModule:
        self._mirrors.clear()
        self._ahead = None
        return self._switch("double")

    def float(self) -> RemoteModule:
        self._mirrors.clear()
        self._ahead = None
        return self._switch("float")

    def zero_grad(self) -> RemoteModule:
        for mirror in self._mirrors.values():
            mirror.grad = None
        return self._switch("zero_grad")

    def _switch(self, what: str) -> RemoteModule:
        self._owner.defer(self._target() | {"op": "switch", "what": what})
        return self

    def _named(self, what: str) -> dict[str, Tensor]:
        stamp, unpacker, values = self._ahead or (-1, None, {})
        if unpacker is None or stamp != self._owner._exchanges or what not in values:
            request = self._target() | {"op": "state", "what": what}
            reply, unpacker = self._owner.exchange(request)
            values = {what: reply.get("value")}
        named = unpacker.read(values.pop(what))
        if not isinstance(named, dict):
            self._owner.violated(f"a {what} that is no dictionary")
        return {name: value for name, value in named.items() if isinstance(value, Tensor)}

    def _target(self) -> dict[str, Any]:
        if self._generation != self._owner._generation:
            raise Stopped("The process of your code ended earlier in this test.")
        return {"handle": self._handle}

    def __repr__(self) -> str:
        return f"<{self.class_name} of the submission>"


class Unpacker(protocol.Unpacker):
    """Makes modules into `RemoteModule`s, and says which tensors gradients can reach."""

    def __init__(self, owner: Submission, payload: bytearray) -> None:
        super().__init__(payload)
        self.owner = owner
        self.differentiable: list[Tensor] = []

    def read(self, value: object) -> Any:
        try:
            return self.unpack(value)
        except protocol.Violation as error:
            self.owner.violated(str(error))

    def module(self, handle: int, class_name: str) -> RemoteModule:
        return RemoteModule(self.owner, handle, class_name[:100])

    def tensor(self, name: str, shape: Any, offset: int, flags: str) -> Tensor:
        tensor = super().tensor(name, shape, offset, flags)
        if "g" in flags:
            if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
                raise protocol.Violation("a gradient of something that has none")
            tensor.remote_requires_grad = True  # type: ignore[attr-defined]
            self.differentiable.append(tensor)
        return tensor


class _Flagged(protocol.Unpacker):
    """Restores `requires_grad` in what a stand-in asks with."""

    def __init__(self, payload: bytearray) -> None:
        super().__init__(payload)
        self.tensors: list[Tensor] = []

    def tensor(self, name: str, shape: Any, offset: int, flags: str) -> Tensor:
        tensor = super().tensor(name, shape, offset, flags)
        if "g" in flags and tensor.dtype.is_floating_point:
            self.tensors.append(tensor.requires_grad_())
        return tensor


def _call(
    owner: Submission,
    target: dict[str, Any],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    mirrors: Mapping[str, nn.Parameter],
) -> Any:
    packer = protocol.Packer()
    wanted = [name for name, mirror in mirrors.items() if mirror.requires_grad]
    request = target | {"op": "call", "args": packer.pack(args), "kwargs": packer.pack(kwargs)}
    request["parameters"] = wanted
    reply, unpacker = owner.exchange(request, packer)
    value = unpacker.read(reply.get("value"))
    inputs = _tensors_in([args, kwargs])
    _copy_changes(reply.get("changed"), unpacker, inputs)
    if isinstance(value, RemoteModule) and isinstance(reply.get("ahead"), dict):
        value._ahead = (owner._exchanges, unpacker, reply["ahead"])
    graph = reply.get("graph")
    sources = [t for t in inputs if t.requires_grad] + [mirrors[name] for name in wanted]
    if graph is None or not sources or not torch.is_grad_enabled():
        for tensor in unpacker.differentiable:  # it asks for gradients; nobody here gets any
            tensor.requires_grad_()
        return value
    if type(graph) is not int or not unpacker.differentiable:
        owner.violated("a graph that is none")
    outputs = [t.detach() for t in unpacker.differentiable]
    linked = _RemoteGraph.apply(owner, graph, outputs, *sources)  # type: ignore[no-untyped-call]
    replaced = dict(zip(map(id, unpacker.differentiable), linked, strict=True))
    return _replace(value, replaced)


class _RemoteGraph(torch.autograd.Function):
    """The part of the graph that lives in the worker; backward asks the worker for gradients."""

    @staticmethod
    def forward(ctx: Any, owner: Submission, graph: int, outputs: Any, *sources: Any) -> Any:
        ctx.owner, ctx.graph, ctx.generation = owner, graph, owner._generation
        ctx.shapes = [(source.shape, source.dtype) for source in sources]
        ctx.set_materialize_grads(False)
        return tuple(output.clone() for output in outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        owner: Submission = ctx.owner
        if ctx.generation != owner._generation:
            raise Stopped("The process of your code ended before its gradients were asked for.")
        packer = protocol.Packer()
        packed = [packer.pack(grad) for grad in grads]
        reply, unpacker = owner.exchange(
            {"op": "backward", "graph": ctx.graph, "grads": packed}, packer
        )
        items = reply.get("grads")
        if not isinstance(items, list) or len(items) != len(ctx.shapes):
            owner.violated("gradients that do not fit")
        received = [unpacker.read(item) for item in items]
        for grad, (shape, dtype) in zip(received, ctx.shapes, strict=True):
            fits = isinstance(grad, Tensor) and (grad.shape, grad.dtype) == (shape, dtype)
            if grad is not None and not fits:
                owner.violated("gradients that do not fit")
        return (None, None, None, *received)


def _copy_changes(changed: object, unpacker: Unpacker, inputs: list[Tensor]) -> None:
    """Makes the caller's tensors look as the student's call left them."""
    if not isinstance(changed, list):
        unpacker.owner.violated("a list of changed arguments that is none")
    for item in changed:
        match item:
            case [int(index), packed] if 0 <= index < len(inputs):
                new = unpacker.read(packed)
                fits = isinstance(new, Tensor) and new.shape == inputs[index].shape
                if fits and new.dtype == inputs[index].dtype:
                    with torch.no_grad():
                        inputs[index].copy_(new)
            case _:
                unpacker.owner.violated("a changed argument that is none")


def _tensors_in(value: object) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for part in value for tensor in _tensors_in(part)]
    return []


def _replace(value: Any, replaced: Mapping[int, Tensor]) -> Any:
    if isinstance(value, Tensor):
        return replaced.get(id(value), value)
    if isinstance(value, dict):
        return {key: _replace(item, replaced) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_replace(item, replaced) for item in value)
    return value


def _cost_of(question: object) -> float:
    """How large a computation a question could ask for.

    Numbers multiply, as sizes do. Each tensor counts its elements times its longest axis, which is
    what products between its tokens take.
    """
    numbers, tensors = 1.0, 0.0
    waiting = [question]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, (list, tuple)):
            waiting.extend(value)
        elif isinstance(value, Tensor) and value.numel() != 1:
            tensors += float(value.numel() * max(value.shape))
        elif isinstance(value, Tensor) and not value.is_complex():
            waiting.append(value.item())
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            numbers *= max(1.0, abs(value)) if math.isfinite(value) else math.inf
    return numbers + tensors


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


_CLASSES: dict[str, type[StudentError]] = {}


def _error_class(bases: Sequence[object]) -> type[StudentError]:
    """`StudentError`, and also the nearest builtin exception type that the error was."""
    for name in bases:
        base = getattr(builtins, str(name), None)
        if not (isinstance(base, type) and issubclass(base, Exception)):
            continue
        if str(name) not in _CLASSES:
            try:
                made = type("StudentError", (StudentError, base), {"builtin": str(name)})
                made("", "", [])
            except TypeError:  # a type with a layout or a constructor of its own
                continue
            _CLASSES[str(name)] = made
        return _CLASSES[str(name)]
    return StudentError
