"""An enemy at the other end of the link: no worker, only bytes, in answer to real requests.

Most replies are nearly right, since what is wrong at first sight is refused at first sight: the
reply that the request asks for, with one part of it replaced by something else.
"""

from __future__ import annotations

import contextlib
import json
import random
import socket
import struct
import threading
import time
from collections.abc import Sequence
from typing import Any

from autograder import protocol
from autograder.sandbox import Station, Worker

WAYS = {
    "replaced": 40, "replaced twice": 8, "error": 8, "question": 3, "bytes": 2,
    "cut": 2, "twice": 2, "closed": 1, "silent": 0.3,
}  # fmt: skip
SILENCE = 30.0  # longer than any test has
DTYPES = list(protocol.DTYPES)
NAMES = ["weight", "bias", "Wq.weight", "Wk.weight", "Wv.bias", "Wo.weight", "emb.weight", "pe"]
TYPES = ["ValueError", "NotImplementedError", "MemoryError", "SystemExit", "KeyError", "object"]
TEXTS = ["", "x", "\ud800", "\u202e", "0", "-1", "nan", "0x1p9999", "9" * 30, "a" * 2000, "\0"]


class Enemy(Station):
    """A station whose workers are threads of this process that speak as `seed` says."""

    def __init__(self, seed: int) -> None:
        here, self._there = socket.socketpair()
        super().__init__(here)
        self.level = "full"
        self.replies = 0
        self.begin(seed)

    def begin(self, seed: int) -> None:
        """From here on it speaks as `seed` says: sometimes it is right for long, sometimes not."""
        self.draw = random.Random(seed)
        self.ways = WAYS | {"right": self.draw.choice([10, 100, 1000])}

    def start(self, limits: dict[str, int], preload: Sequence[str] = ()) -> Worker:
        ours, theirs = socket.socketpair()
        worker = EnemyWorker(self, 0, ours)
        worker.thread = threading.Thread(target=self._speak, args=(theirs,), daemon=True)
        worker.thread.start()
        return worker

    def close(self) -> None:
        self.channel.close()
        self._there.close()

    def _speak(self, link: socket.socket) -> None:
        with link, contextlib.suppress(protocol.Closed, protocol.Late, OSError):
            while True:
                request, payload = protocol.receive(link)
                way = self.draw.choices(list(self.ways), list(self.ways.values()))[0]
                if request.get("op") == "begin":
                    way = "right"  # the grader's own code answers that, before any of a student's
                self.replies += 1
                if way == "closed":
                    return
                if way == "silent":
                    link.settimeout(SILENCE)
                    link.recv(1)
                    return
                link.sendall(self._reply(way, request, len(payload)))

    def _reply(self, way: str, request: dict[str, Any], size: int) -> bytes:
        draw, writer = self.draw, Writer(self.draw)
        if way == "bytes":
            return draw.randbytes(draw.randrange(1, 400))
        envelope: Any = writer.answer(request)
        if way == "error":
            envelope = writer.error()
        if way == "question":
            envelope = writer.question()
        for _ in range(("replaced", "replaced twice").index(way) + 1 if "replaced" in way else 0):
            envelope = replace(envelope, draw)
        text = json.dumps(envelope).encode()
        frame = struct.pack("<IQ", len(text), len(writer.payload)) + text + bytes(writer.payload)
        if way == "cut":
            return frame[: draw.randrange(1, len(frame))] + bytes(draw.randrange(0, 3))
        return frame * 2 if way == "twice" else frame


class EnemyWorker(Worker):
    """Has no process; its end says nothing."""

    thread: threading.Thread

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            self.link.shutdown(socket.SHUT_RDWR)
        self.link.close()
        self.thread.join()

    def computing_seconds(self) -> float | None:
        return None

    def how_it_ended(self) -> int | None:
        return random.Random(time.monotonic()).choice([None, 0, 1, 139, 134, 3])


class Writer:
    """Writes the reply that a request asks for, with values of its own."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.payload = bytearray()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        match request:
            case {"op": "load"}:
                return {"missing": []}
            case {"op": "call", "name": _} if self.draw.random() < 0.8:
                state = {"state_dict": self.named(), "named_parameters": self.named()}
                return {"value": ["m", 1, "X"], "graph": None, "changed": [], "ahead": state}
            case {"op": "call"}:
                changed = [[0, self.tensor()]] if self.draw.random() < 0.1 else []
                graph = -1 if self.draw.random() < 0.5 else None
                shape = _shape_of(request["args"])
                return {"value": self.tensor(shape), "graph": graph, "changed": changed}
            case {"op": "state"}:
                return {"value": self.named(), "training": True}
            case {"op": "backward"}:
                return {"grads": [self.tensor() for _ in range(self.draw.randrange(10))]}
        return {}

    def named(self) -> list[Any]:
        return ["d", [[name, self.tensor()] for name in NAMES[: self.draw.randrange(9)]]]

    def tensor(self, shape: Sequence[int] | None = None) -> list[Any]:
        draw = self.draw
        if shape is None or draw.random() < 0.2:
            shape = [draw.choice([0, 1, 2, 3, 7, 12, 64]) for _ in range(draw.randrange(4))]
        name = draw.choice(DTYPES) if draw.random() < 0.1 else "float32"
        count = protocol.DTYPES[name].itemsize
        for size in shape:
            count *= size
        offset = len(self.payload)
        small = struct.pack("<f", draw.choice([0.0, 1.0, -3.5, float("nan"), float("inf"), 1e38]))
        data = draw.randbytes(count) if draw.random() < 0.5 else small * (count // 4 + 1)
        self.payload += data[:count] + bytes(-count % protocol.ALIGNMENT)
        return ["T", name, list(shape), offset, draw.choice(["", "g", "gp", "p"])]

    def error(self) -> dict[str, Any]:
        draw = self.draw
        bases = draw.sample(TYPES, draw.randrange(4))
        frame = ["multi_head_attention.py", draw.randrange(-1, 60), "forward", "x"]
        return {
            "error": {
                "type": draw.choice(TYPES),
                "bases": bases,
                "message": draw.choice(TEXTS),
                "frames": [frame] * draw.randrange(3),
            }
        }

    def question(self) -> dict[str, Any]:
        if self.draw.random() < 0.3:
            return {"ask_grads": self.draw.randrange(3), "parts": [self.tensor()]}
        path = self.draw.choice(["MultiHeadAttention.forward", "positional_encoding", "x"])
        parts = [["l", [["i", "12"], ["i", "3"]]], self.named(), ["l", [self.tensor()]], ["d", []]]
        return {"ask": path, "parts": parts, "grad": True}


def _shape_of(value: object) -> list[int] | None:
    """The shape of the first tensor in packed arguments."""
    match value:
        case ["T", str(), list(shape), int(), str()]:
            return shape
        case [str(), list(items)]:
            return next((found for item in items if (found := _shape_of(item))), None)
    return None


def replace(value: Any, draw: random.Random) -> Any:
    """The same, with one part somewhere in it replaced."""
    inside = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    if not inside or draw.random() < 0.15:
        return junk(draw) if not isinstance(value, dict) else value | {"value": junk(draw)}
    key, part = draw.choice(inside)
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = replace(part, draw) if isinstance(part, (dict, list)) else junk(draw)
    return copy


def junk(draw: random.Random, depth: int = 3) -> Any:
    """Anything that JSON can say."""
    choices: list[Any] = [
        None, True, False, 0, 1, -1, 2**31, 2**62, -(2**62), 2**70, 0.5, float("nan"), 1e300,
        draw.choice(TEXTS), ["n"], ["b", True], ["i", draw.choice(TEXTS)], ["f", "nan"],
        ["s", draw.choice(TEXTS)], ["m", draw.randrange(9), "Linear"], ["o", "set"], ["T"],
        ["T", "float32", [2**40, 0], 0, ""], ["T", "float32", [1] * 16, 0, "g"],
        ["A", "float64", [], 0, ""], ["t", []], ["l", []], ["d", [["x", ["n"]]]], {}, [], [[]],
    ]  # fmt: skip
    if depth and draw.random() < 0.2:
        tag = draw.choice(["l", "t", "d", "x"])
        return [tag, [junk(draw, depth - 1) for _ in range(draw.randrange(5))]]
    return draw.choice(choices)
