"""What a test holds in its hands: ordinary-looking functions and modules that live elsewhere.

`submission.MultiHeadAttention(12, 3)` constructs the student's class in a sandboxed worker and
returns a `RemoteModule`; calling that runs the student's `forward` there and returns a tensor made
here from checked bytes. Gradients cross as well.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from autograder import protocol
from autograder.student_errors import MissingName, Stopped

if TYPE_CHECKING:
    from autograder.remote import Submission

MAX_HANDLE = 1 << 53


@dataclass
class Made:
    """What is known of the modules that one call has made."""

    class_name: str
    told: tuple[Unpacker, Any] | None = None  # the state of the first one, still packed
    was_asked: set[str] = field(default_factory=set)  # what a test has asked the last one for

    @functools.cached_property
    def shapes(self) -> dict[str, torch.Size]:
        """Of the state of a new one; none where it is not a short one of plain tensors."""
        if self.told is None or not isinstance(self.told[1], list) or self.told[1][:1] != ["D"]:
            return {}
        return _shapes(self.told[0].read(self.told[1]))


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
        recipe = _recipe(self._name, args, kwargs)
        known = self._owner.made.get(recipe)
        target = {"module": self._module, "name": self._name, "recipe": recipe}
        if known is not None and known.shapes and self._owner.makes_later:
            return self._make(known, target, args, kwargs)
        habits = self._owner.habits  # the next module is asked for what the last one was
        asked = known.was_asked if known else {"state_dict"} | habits.get(self._name, set())
        value = _call(self._owner, target | {"ahead": sorted(asked)}, args, kwargs, {})
        if isinstance(value, RemoteModule):
            if known is None:
                known = Made(value.class_name, value.told_state())
                habits[self._name] = known.was_asked
                if recipe:
                    self._owner.made[recipe] = known
            else:
                known.was_asked = set()
                value._shapes = known.shapes if value.is_alike else {}
            value._made = known
        return value

    def _make(
        self,
        known: Made,
        target: dict[str, Any],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> RemoteModule:
        """Another module like one that is known, made when something is asked of it."""
        packer = protocol.Packer()
        module = RemoteModule(self._owner, self._owner.new_handle(), known.class_name)
        request = target | {"op": "make", "handle": module._handle, "args": packer.pack(args)}
        request |= {"kwargs": packer.pack(kwargs), "grad": torch.is_grad_enabled()}
        self._owner.defer(request)
        module._shapes = known.shapes
        return module


class RemoteModule:
    """An `nn.Module` of the student's, kept in the worker."""

    def __init__(self, owner: Submission, handle: int, class_name: str) -> None:
        self._owner = owner
        self._handle = handle
        self._generation = owner._generation
        self._mirrors: dict[str, nn.Parameter] = {}
        self._ahead: tuple[int, Unpacker, dict[str, Any]] | None = None
        self._shapes: dict[str, torch.Size] = {}  # of its state, where that is known
        self._made = Made(class_name)
        self.is_alike = False  # whether it was said to be like the last one of the same call
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
        packer = self._owner.packer()
        fits = bool(self._shapes) and list(_shapes(state).items()) == list(self._shapes.items())
        is_like_told = fits and protocol.is_small_state(state)  # then its numbers say it all
        value = protocol.join(state.values()) if is_like_told else dict(state)
        request = self._target() | {"op": "load_state", "state": packer.pack(value)}
        if fits and packer.size < protocol.SHORT:
            self._owner.defer(request, packer)  # so nothing has to be said now
        else:
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
        self._made.was_asked.add(what)
        stamp, unpacker, values = self._ahead or (-1, None, {})
        if unpacker is None or stamp != self._owner._exchanges or what not in values:
            request = self._target() | {"op": "state", "what": what}
            reply, unpacker = self._owner.exchange(request)
            values = {what: reply.get("value")}
        value = values.pop(what)
        named = unpacker.read(value)
        if not isinstance(named, dict):
            self._owner.violated(f"a {what} that is no dictionary")
        tensors = {name: value for name, value in named.items() if isinstance(value, Tensor)}
        if what == "state_dict":
            self._shapes = _shapes(tensors) if value[0] == "D" else {}
        return tensors

    def told_state(self) -> tuple[Unpacker, Any] | None:
        """Its state as it was told when it was made, still packed; not what is long."""
        _, unpacker, values = self._ahead or (-1, None, {})
        if unpacker is None or len(unpacker.payload) > protocol.SHORT:
            return None
        return unpacker, values.get("state_dict")

    def _target(self) -> dict[str, Any]:
        if self._generation != self._owner._generation:
            raise Stopped("The process of your code ended earlier in this test.")
        return {"handle": self._handle}

    def __repr__(self) -> str:
        return f"<{self.class_name} of the submission>"


class Unpacker(protocol.Unpacker):
    """Makes modules into `RemoteModule`s, and says which tensors gradients can reach."""

    def __init__(self, owner: Submission, payload: protocol.Payload) -> None:
        super().__init__(payload)
        self.owner = owner
        self.differentiable: list[Tensor] = []

    def read(self, value: object) -> Any:
        try:
            return self.unpack(value)
        except protocol.Violation as error:
            self.owner.violated(str(error))

    def module(self, handle: int, class_name: str) -> RemoteModule:
        if not 0 < handle < MAX_HANDLE:
            raise protocol.Violation("a module of an impossible number")
        return RemoteModule(self.owner, self.owner.note_handle(handle), class_name[:100])

    def mark(self, tensor: Tensor, flags: str) -> Tensor:
        if "g" in flags:
            if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
                raise protocol.Violation("a gradient of something that has none")
            tensor.remote_requires_grad = True  # type: ignore[attr-defined]
            self.differentiable.append(tensor)
        return tensor


def _call(
    owner: Submission,
    target: dict[str, Any],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    mirrors: Mapping[str, nn.Parameter],
) -> Any:
    packer = owner.packer()
    wanted = [name for name, mirror in mirrors.items() if mirror.requires_grad]
    request = target | {"op": "call", "args": packer.pack(args), "kwargs": packer.pack(kwargs)}
    request["parameters"] = wanted
    reply, unpacker = owner.exchange(request, packer)
    value = unpacker.read(reply.get("value"))
    inputs = _tensors_in([args, kwargs])
    _copy_changes(reply.get("changed"), unpacker, inputs)
    if isinstance(value, RemoteModule) and isinstance(reply.get("ahead"), dict):
        value._ahead = (owner._exchanges, unpacker, reply["ahead"])
        value.is_alike = reply.get("alike") is True
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
        packer = owner.packer()
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


def _recipe(name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> str:
    """A call as a text, where it is made of whole numbers; else nothing."""
    is_plain = all(type(value) is int for value in (*args, *kwargs.values()))
    return f"{name} {args} {kwargs}" if is_plain else ""


def _shapes(state: Mapping[str, Tensor]) -> dict[str, torch.Size]:
    return {name: value.shape for name, value in state.items()}


def _tensors_in(value: object) -> list[Tensor]:
    """The tensors in a value, in the order in which it is packed."""
    found: list[Tensor] = []
    _find_tensors(value, found)
    return found


def _find_tensors(value: object, found: list[Tensor]) -> None:
    if isinstance(value, Tensor):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _find_tensors(part, found)
    elif isinstance(value, dict):
        for part in value.values():
            _find_tensors(part, found)


def _replace(value: Any, replaced: Mapping[int, Tensor]) -> Any:
    if isinstance(value, Tensor):
        return replaced.get(id(value), value)
    if isinstance(value, dict):
        return {key: _replace(item, replaced) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_replace(item, replaced) for item in value)
    return value
