"""Answers what stand-ins ask for: right values in the place of a spoilt exercise's.

A stand-in in the worker (`worker.substitution`) sends what it was called with; the reference
computes the answer here. Only values cross, never code, and gradients can be asked for as well.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from autograder import protocol

MAX_ASKS = 200  # questions in one test
MAX_ASKED_SIZE = 1 << 24  # multiplications, roughly, that one question may cost


class Supplier:
    """Answers the questions of one worker. `supply` is `reference.Supply`, or None: no answers."""

    def __init__(self, supply: Callable[..., Any] | None) -> None:
        self._supply = supply
        self._asks = 0
        self.was_asked = False
        self._graphs: dict[int, tuple[Tensor, list[Tensor]]] = {}

    def begin_test(self) -> None:
        self._asks = 0

    def end_test(self) -> None:
        self._graphs.clear()

    def answer(
        self,
        link: socket.socket,
        request: dict[str, Any],
        payload: protocol.Payload,
        deadline: float,
    ) -> None:
        """Answers a stand-in's question with a right value, computed here.

        Raises:
            protocol.Violation: no question is allowed, or it is in no known form.
        """
        self._asks += 1
        self.was_asked = True
        if self._supply is None or self._asks > MAX_ASKS:
            raise protocol.Violation("a question where none may be asked, or too many")
        packer = protocol.Packer()
        try:
            value, graph = self._compute(request, payload)
        except protocol.Violation:
            raise
        except Exception as error:  # the question was wrong, not the grader
            protocol.send(link, {"refused": f"{error}"[:500]}, None, deadline)
            return
        reply = {"value": packer.pack(value), "graph": graph}
        protocol.send(link, reply, packer, deadline)

    def _compute(
        self, request: dict[str, Any], payload: protocol.Payload
    ) -> tuple[Any, int | None]:
        assert self._supply is not None
        unpacker = protocol.Unpacker(payload)
        flagged = _Flagged(payload)
        match request:
            case {"ask": str(path), "parts": [made_with, state, args, kwargs], "grad": bool(grad)}:
                parts = [flagged.unpack(part) for part in (made_with, state, args, kwargs)]
                if _cost_of(parts) > MAX_ASKED_SIZE:
                    raise ValueError("sizes far beyond what this assignment needs")
                with torch.set_grad_enabled(grad):
                    value = self._supply(path, *parts)
                if isinstance(value, Tensor) and value.requires_grad:
                    self._graphs[len(self._graphs)] = (value, flagged.tensors)
                    return value, len(self._graphs) - 1
                return value, None
            case {"ask_grads": int(graph), "parts": [grad_value]} if graph in self._graphs:
                value, tensors = self._graphs[graph]
                received = unpacker.unpack(grad_value)
                with torch.enable_grad():
                    total = (value * received).sum()
                grads = torch.autograd.grad(total, tensors, retain_graph=True, allow_unused=True)
                return list(grads), None
        raise protocol.Violation("a question in no known form")


class _Flagged(protocol.Unpacker):
    """Restores `requires_grad` in what a stand-in asks with."""

    def __init__(self, payload: protocol.Payload) -> None:
        super().__init__(payload)
        self.tensors: list[Tensor] = []

    def mark(self, tensor: Tensor, flags: str) -> Tensor:
        if "g" in flags and tensor.dtype.is_floating_point:
            self.tensors.append(tensor.requires_grad_())
        return tensor


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
