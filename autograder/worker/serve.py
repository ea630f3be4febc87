"""Answers the grader's requests inside a sealed worker: here, and only here, student code runs.

One request, one reply. Requests and replies are frames of `autograder.protocol`; a request names an
`op`, and the method of `Server` with that name answers it. Whatever student code raises comes back
as data. Nothing here decides anything: only values leave.
"""

from __future__ import annotations

import contextlib
import importlib
import linecache
import os
import random
import socket
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from autograder import protocol
from autograder.worker import substitution
from autograder.worker.substitution import Asker

LINK, SPARE = 3, 200
Layout = list[tuple[str, torch.Size]]
AHEAD_BYTES = 1 << 16


def warm_up() -> None:
    """Does in the zygote, once, what every worker would do on its first request."""
    torch.set_num_threads(1)
    with contextlib.suppress(ImportError):  # what is blocked most often: see `substitution`
        importlib.import_module("torch.nn.attention.flex_attention")
    torch.nn.functional.softmax(torch.ones(2, 2) @ torch.nn.Linear(2, 2)(torch.ones(2, 2)), -1)
    # Code that draws random numbers draws the same ones in every run of the grader.
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)


def run(link: socket.socket, folder: str) -> None:
    """Serves until the grader hangs up. `folder` becomes the home of the student's files."""
    link = _only_descriptor(link)
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    os.environ.clear()
    os.environ |= {"HOME": folder, "TMPDIR": folder, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    os.environ |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg", "MPLCONFIGDIR": folder}
    sys.path.insert(0, folder)  # first, so that no other folder is searched; it holds only ours
    sys.argv = [""]
    sys.dont_write_bytecode = True
    with contextlib.suppress(protocol.Closed):
        Server(link, folder).serve()


def _only_descriptor(link: socket.socket) -> socket.socket:
    """Leaves `/dev/null` as standard streams and the grader's socket; closes all else."""
    null = os.open(os.devnull, os.O_RDWR)
    held = os.dup2(link.detach(), SPARE)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.dup2(held, LINK)
    os.closerange(LINK + 1, os.sysconf("SC_OPEN_MAX"))
    return socket.socket(fileno=LINK)


class ServerPacker(protocol.Packer):
    """Keeps modules here and sends a handle; remembers the tensors that gradients can reach."""

    def __init__(self, objects: dict[int, object]) -> None:
        super().__init__()
        self.objects = objects
        self.differentiable: list[torch.Tensor] = []

    def other(self, value: object) -> protocol.Value:
        if isinstance(value, torch.nn.Module):
            handle = max(self.objects, default=0) + 1
            self.objects[handle] = value
            return ["m", handle, type(value).__name__[:100]]
        return super().other(value)

    def flags(self, tensor: torch.Tensor) -> str:
        if tensor.requires_grad:
            self.differentiable.append(tensor)
        return super().flags(tensor)


class ServerUnpacker(protocol.Unpacker):
    """Restores `requires_grad` and remembers the tensors, in order."""

    def __init__(self, payload: protocol.Payload) -> None:
        super().__init__(payload)
        self.tensors: list[torch.Tensor] = []

    def mark(self, tensor: torch.Tensor, flags: str) -> torch.Tensor:
        if "g" in flags:
            tensor.requires_grad_()
        self.tensors.append(tensor)
        return tensor


class Server:
    """Reads requests from `link` and answers each; `folder` holds the student's files."""

    def __init__(self, link: socket.socket, folder: str) -> None:
        self.link = link
        self.folder = folder
        self.objects: dict[int, object] = {}
        self.graphs: dict[int, tuple[list[torch.Tensor], list[torch.Tensor]]] = {}
        self.layouts: dict[int, Layout] = {}  # of the states that were sent
        self.made: dict[
            str, Layout
        ] = {}  # call -> the layout of what it made first, as it was sent
        self.is_early = False  # whether it does what was asked for before

    def serve(self) -> None:
        while True:
            envelope, payload = protocol.receive(self.link)
            packer = ServerPacker(self.objects)
            try:
                reply = self.answer(envelope, payload, packer)
            except protocol.Closed:
                raise
            except BaseException as error:  # SystemExit and KeyboardInterrupt are students' too
                packer = ServerPacker(self.objects)
                reply = {"error": self.describe(error), "early": self.is_early}
            protocol.send(self.link, reply, packer)

    def answer(
        self, envelope: dict[str, Any], payload: protocol.Payload, packer: ServerPacker
    ) -> dict[str, Any]:
        first, dropped = envelope.get("first", ()), set(envelope.get("drop", ()))
        needed = {earlier["handle"] for earlier in first}
        self._drop(dropped - needed)  # what may be large is gone before the next one is made
        self.is_early = True
        for earlier in first:
            getattr(self, "op_" + earlier["op"])(earlier, ServerUnpacker(payload), packer)
        self.is_early = False
        self._drop(dropped & needed)
        method = getattr(self, "op_" + envelope["op"])
        unpacker = ServerUnpacker(payload)
        with torch.set_grad_enabled(bool(envelope.get("grad"))):
            reply: dict[str, Any] = method(envelope, unpacker, packer) or {}
        return reply

    def _drop(self, handles: set[int]) -> None:
        for handle in handles:
            self.objects.pop(handle, None)
            self.graphs.pop(handle, None)
            self.layouts.pop(handle, None)

    # --- requests -------------------------------------------------------------------------------

    def op_begin(self, envelope: dict[str, Any], *_: object) -> None:
        """Receives the student's files, names to block and modules to stand in for."""
        for name, text in envelope["files"].items():
            with open(os.path.join(self.folder, name), "w", encoding="utf-8", newline="") as file:
                file.write(text)
        for path in envelope["blocked"]:
            substitution.block(path, substitution.refuse)
        for path in envelope["spared"]:
            substitution.block(path, substitution.end)
        if envelope["spared"]:  # in a child, the end of the process would not be ours
            os.register_at_fork(before=substitution.end)
        for module, spec in envelope["stand_ins"].items():
            ask = Asker(self.link)
            substitution.stand_in(module, spec["source"], spec["written"], spec["keep"], ask)

    def op_load(self, envelope: dict[str, Any], *_: object) -> dict[str, Any]:
        """Imports one of the student's files; says which of the asked names it lacks."""
        module = importlib.import_module(envelope["module"])
        return {"missing": [n for n in envelope["names"] if not hasattr(module, n)]}

    def op_call(
        self, envelope: dict[str, Any], unpacker: ServerUnpacker, packer: ServerPacker
    ) -> dict[str, Any]:
        """Calls a name of a module, or a kept module object.

        The reply holds the value, a handle on the graph behind it where gradients can flow, and
        the arguments that the call changed in place.
        """
        before = bytes(unpacker.payload)
        args = unpacker.unpack(envelope["args"])
        kwargs = unpacker.unpack(envelope["kwargs"])
        inputs = list(unpacker.tensors)
        if "handle" in envelope:
            target: Any = self.objects[envelope["handle"]]
            parameters = dict(target.named_parameters()) if envelope["parameters"] else {}
            wanted = inputs_with_grad(inputs) + [parameters[n] for n in envelope["parameters"]]
        else:
            target = getattr(sys.modules[envelope["module"]], envelope["name"])
            wanted = inputs_with_grad(inputs)
        result = target(*args, **kwargs)
        reply: dict[str, Any] = {"value": packer.pack(result), "graph": None, "changed": []}
        if packer.differentiable and wanted:
            reply["graph"] = -1 - len(self.graphs) - max(self.objects, default=0)
            while reply["graph"] in self.graphs:
                reply["graph"] -= 1
            self.graphs[reply["graph"]] = (list(packer.differentiable), wanted)
        if bytes(unpacker.payload) != before:
            old = protocol.Unpacker(bytearray(before))
            originals = _tensors_of(old, envelope["args"]) + _tensors_of(old, envelope["kwargs"])
            pairs = enumerate(zip(inputs, originals, strict=True))
            changed = [(i, new) for i, (new, was) in pairs if not torch.equal(new.detach(), was)]
            reply["changed"] = [[i, packer.pack(new.detach())] for i, new in changed]
        if isinstance(result, torch.nn.Module) and "name" in envelope:
            handle, recipe = reply["value"][1], envelope["recipe"]
            reply["ahead"] = told = self._look_ahead(handle, result, envelope["ahead"], packer)
            if recipe and "state_dict" in told and handle in self.layouts:
                self.made.setdefault(recipe, self.layouts[handle])
            elif recipe in self.made and _layout(result) == self.made[recipe]:
                self.layouts[handle] = self.made[recipe]
                reply["alike"] = True
        return reply

    def op_make(self, envelope: dict[str, Any], unpacker: ServerUnpacker, _: object) -> None:
        """Makes a module by a call that made one before, which it must be like."""
        target = getattr(sys.modules[envelope["module"]], envelope["name"])
        args, kwargs = unpacker.unpack(envelope["args"]), unpacker.unpack(envelope["kwargs"])
        with torch.set_grad_enabled(bool(envelope["grad"])):
            module = target(*args, **kwargs)
        layout = self.made[envelope["recipe"]]
        if not isinstance(module, torch.nn.Module) or _layout(module) != layout:
            raise TypeError("it is not like the one that was made before")
        self.objects[envelope["handle"]], self.layouts[envelope["handle"]] = module, layout

    def op_nothing(self, *_: object) -> None:
        """For what was to be done first."""

    def _look_ahead(
        self, handle: int, module: torch.nn.Module, ahead: list[str], packer: ServerPacker
    ) -> dict[str, Any]:
        """What will be asked of a new module, most likely, where that is small."""
        with contextlib.suppress(BaseException):
            named = {what: dict(getattr(module, what)()) for what in ahead}
            if sum(t.nbytes for values in named.values() for t in values.values()) < AHEAD_BYTES:
                return {what: self._tell(handle, what, named[what], packer) for what in named}
        return {}

    def _tell(
        self, handle: int, what: str, named: dict[str, torch.Tensor], packer: ServerPacker
    ) -> protocol.Value:
        value = packer.pack(named)
        if what == "state_dict" and value[0] == "D":
            self.layouts[handle] = [(name, tensor.shape) for name, tensor in named.items()]
        return value

    def op_backward(
        self, envelope: dict[str, Any], unpacker: ServerUnpacker, packer: ServerPacker
    ) -> dict[str, Any]:
        outputs, wanted = self.graphs[envelope["graph"]]
        received = [unpacker.unpack(grad) for grad in envelope["grads"]]
        pairs = [(o, g) for o, g in zip(outputs, received, strict=True) if g is not None]
        with torch.enable_grad():
            # A scalar: given `grad_outputs`, torch would import its symbolic machinery (160 ms).
            total: Any = sum((output * grad).sum() for output, grad in pairs)
        grads = torch.autograd.grad(total, wanted, retain_graph=True, allow_unused=True)
        dense = [grad if grad is None else grad.to_dense() for grad in grads]  # nn.Embedding's
        return {"grads": [packer.pack(grad) for grad in dense]}

    def op_state(self, envelope: dict[str, Any], _: object, packer: ServerPacker) -> dict[str, Any]:
        """`what` is `state_dict`, `named_parameters` or `named_buffers`."""
        module: Any = self.objects[envelope["handle"]]
        what = envelope["what"]
        named = dict(getattr(module, what)())
        value = self._tell(envelope["handle"], what, named, packer)
        return {"value": value, "training": bool(module.training)}

    def op_load_state(
        self, envelope: dict[str, Any], unpacker: ServerUnpacker, _: object
    ) -> dict[str, Any]:
        module: Any = self.objects[envelope["handle"]]
        if any(buffer.is_inference() for buffer in module.buffers()):
            _leave_inference_mode(module)
        state = unpacker.unpack(envelope["state"])
        if isinstance(state, torch.Tensor):  # laid out as the one that was sent
            names, shapes = zip(*self.layouts[envelope["handle"]], strict=True)
            state = dict(zip(names, protocol.cut(state.numpy(), shapes), strict=True))
        module.load_state_dict(state)
        return {}

    def op_switch(self, envelope: dict[str, Any], *_: object) -> dict[str, Any]:
        """`what` is `train`, `eval`, `double`, `float` or `zero_grad`."""
        getattr(self.objects[envelope["handle"]], envelope["what"])()
        return {}

    # --- errors ---------------------------------------------------------------------------------

    def describe(self, error: BaseException) -> dict[str, Any]:
        """An exception as data: its type, what it says, and the frames of the student's files."""
        try:
            message = str(error)[:2000]
        except BaseException:
            message = "(the exception cannot be shown)"
        bases = [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"]
        return {
            "type": type(error).__name__[:100],
            "bases": bases[:8],
            "message": message,
            "frames": list(self._frames(error)),
        }

    def _frames(self, error: BaseException) -> Iterator[list[object]]:
        if isinstance(error, SyntaxError) and error.filename:
            name = os.path.basename(str(error.filename))
            yield [name, int(error.lineno or 0), "", str(error.text or "").strip()[:200]]
            return
        own = []
        for frame, line in traceback.walk_tb(error.__traceback__):
            path = frame.f_code.co_filename
            if os.path.dirname(path) == self.folder:
                text = linecache.getline(path, line).strip()[:200]
                own.append([os.path.basename(path), line, frame.f_code.co_name[:100], text])
        yield from own[-8:]


def _layout(module: torch.nn.Module) -> Layout | None:
    """Names and shapes of a state that is short and plain; None of any other."""
    with contextlib.suppress(BaseException):
        state = module.state_dict()
        if protocol.is_small_state(state):
            return [(name, tensor.shape) for name, tensor in state.items()]
    return None


def _leave_inference_mode(module: torch.nn.Module) -> None:
    """A table made in inference mode is a table all the same."""
    for part in module.modules():
        for name, buffer in part.named_buffers(recurse=False):
            part._buffers[name] = buffer.clone()


def inputs_with_grad(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    return [tensor for tensor in tensors if tensor.requires_grad]


def _tensors_of(unpacker: protocol.Unpacker, value: object) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []

    def walk(item: object) -> None:
        if isinstance(item, torch.Tensor):
            found.append(item)
        elif isinstance(item, dict):
            for part in item.values():
                walk(part)
        elif isinstance(item, (list, tuple)):
            for part in item:
                walk(part)

    walk(unpacker.unpack(value))
    return found
