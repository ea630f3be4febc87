"""Putting something else in the place of a name, before student code is imported.

`block` makes a ready-made function or class raise when it is used, or ends the worker. `stand_in`
replaces one of the student's modules by the handed-out stub whose unwritten parts ask the grader
for right *values*, so that what depends on it can be judged on its own.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import torch

from autograder import protocol

_leave = os._exit  # whatever student code makes of that name
_LIBRARIES: list[Any] = []  # torch drops an override when its library object is collected


class Blocked(RuntimeError):
    """A name that this assignment does not allow here was used."""


def refuse(path: str) -> NoReturn:
    raise Blocked(f"{path} is not to be used in this exercise")


def end(path: str = "") -> NoReturn:
    _leave(1)


def block(path: str, action: Callable[[str], NoReturn]) -> None:
    """Has `action` take the place of `path` wherever it is used. Unknown paths are passed over.

    `torch.ops.aten.<name>` is replaced in torch's dispatcher, so that no other spelling reaches
    it; any other path is a function, or a class that can then not be constructed.
    """

    def act(*_: object, **__: object) -> None:
        action(path)

    if path.startswith("torch.ops.aten."):
        library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
        for key in ("CompositeImplicitAutograd", "CPU", "AutogradCPU"):
            with contextlib.suppress(RuntimeError), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it is meant to take the place of another
                library.impl(path.rsplit(".", 1)[1], act, key)  # type: ignore[no-untyped-call]
        _LIBRARIES.append(library)
        return
    owner_path, name = path.rsplit(".", 1)
    try:
        owner = importlib.import_module(owner_path)
        target = getattr(owner, name)
    except (ImportError, AttributeError):
        return
    if isinstance(target, type):
        target.__init__ = act  # type: ignore[misc]
        if hasattr(target, "forward"):
            target.forward = act
    else:
        setattr(owner, name, act)


def stand_in(module: str, source: str, written: list[str], keep: bool, ask: Asker) -> None:
    """Registers `module`, made of the stub `source` with every name in `written` asked for.

    With `keep`, whatever else the student's own file defines stays available in it.
    """
    namespace = types.ModuleType(module)
    namespace.__file__ = f"<{module}, supplied>"
    if keep:
        with contextlib.suppress(BaseException):
            namespace.__dict__.update(vars(importlib.import_module(module)))
    sys.modules[module] = namespace
    exec(compile(source, namespace.__file__, "exec"), namespace.__dict__)
    for path in written:
        owner_name, _, method = path.rpartition(".")
        if owner_name:
            _supply_method(getattr(namespace, owner_name), path, method, ask)
        else:
            setattr(namespace, path, _supply_function(path, ask))


def _supply_function(path: str, ask: Asker) -> Any:
    def supplied(*args: Any, **kwargs: Any) -> Any:
        return ask(path, None, {}, args, kwargs)

    return supplied


def _supply_method(owner: Any, path: str, method: str, ask: Asker) -> None:
    construct = owner.__init__

    def construct_and_remember(self: Any, *args: Any, **kwargs: Any) -> None:
        construct(self, *args, **kwargs)
        self._made_with = (args, kwargs)

    def supplied(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = dict(self.named_parameters()) | dict(self.named_buffers())
        return ask(path, self._made_with, state, args, kwargs)

    owner.__init__ = construct_and_remember
    setattr(owner, method, supplied)


class Asker:
    """Asks the grader for a value in the middle of a request; gradients flow through the answer."""

    def __init__(self, link: socket.socket) -> None:
        self.link = link

    def __call__(
        self, path: str, made_with: object, state: dict[str, Any], args: Any, kwargs: Any
    ) -> Any:
        packer = protocol.Packer()
        parts = [packer.pack(part) for part in (made_with, state, tuple(args), dict(kwargs))]
        tensors = [t for t in [*state.values(), *args, *kwargs.values()] if _has_grad(t)]
        request = {"ask": path, "parts": parts, "grad": torch.is_grad_enabled()}
        value, graph = self._exchange(request, packer)
        if graph is None or not isinstance(value, torch.Tensor):
            return value
        return _Asked.apply(self, graph, value, *tensors)  # type: ignore[no-untyped-call]

    def backward(self, graph: int, grad: torch.Tensor) -> list[torch.Tensor | None]:
        packer = protocol.Packer()
        request = {"ask_grads": graph, "parts": [packer.pack(grad.detach())]}
        value, _ = self._exchange(request, packer)
        return list(value)

    def _exchange(self, request: dict[str, Any], packer: protocol.Packer) -> tuple[Any, int | None]:
        protocol.send(self.link, request, packer)
        envelope, payload = protocol.receive(self.link)
        if "refused" in envelope:
            raise ValueError(envelope["refused"])
        return protocol.Unpacker(payload).unpack(envelope["value"]), envelope["graph"]


def _has_grad(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


class _Asked(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, ask: Asker, graph: int, value: Any, *tensors: Any) -> Any:
        ctx.ask, ctx.graph = ask, graph
        return value.clone()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return (None, None, None, *ctx.ask.backward(ctx.graph, grad))
