"""Frames and values that cross between the grader and a worker.

A frame is a header, a JSON envelope and raw tensor bytes: nothing in it can name code, so reading
one executes nothing. Both sides use this module, and neither trusts what it reads: every size is
checked before memory is reserved, and the first irregularity raises `Violation`.

Values inside an envelope are tagged lists:

    ["n"]  ["b", true]  ["i", "12"]  ["f", "0x1.8p+0"]  ["s", "text"]   plain values
    ["l", [...]]  ["t", [...]]  ["d", [[key, value], ...]]              list, tuple, dict
    ["T", dtype, shape, offset, flags]                                  tensor, bytes in the payload
    ["D", [[key, shape, flags], ...], offset]        dict of float32 tensors, one behind the other
    ["A", dtype, shape, offset, flags]                                  numpy array, likewise
    ["m", handle, class name]                                           a module kept by the worker
    ["o", type name]                                                    anything else, by name only

Tensor flags: "g" requires grad, "p" is a parameter.
"""

from __future__ import annotations

import json
import math
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

HEADER = struct.Struct("<IQ")
MAX_ENVELOPE = 4 << 20
MAX_PAYLOAD = 256 << 20
MAX_DEPTH = 12
MAX_ITEMS = 50_000
MAX_DIMENSIONS = 16
ALIGNMENT = 16
SHORT = 1 << 16
FIRST = 1 << 14  # bytes to make room for before a frame is known

DTYPES: dict[str, torch.dtype] = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float32, torch.float64, torch.float16, torch.bfloat16,
        torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8,
        torch.bool, torch.complex64, torch.complex128,
    )
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in DTYPES.items()}

Value = list[Any]


class Violation(Exception):
    """The other side sent something that is not a frame of this protocol."""


class Closed(Exception):
    """The other side is gone."""


class Late(Exception):
    """No whole frame arrived before the deadline."""


class _TooLarge(Exception):
    """A value has more parts than may cross."""


class Opaque:
    """An object that stayed on the other side; only the name of its type crossed."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __repr__(self) -> str:
        return f"<{self.type_name} object>"


class Packer:
    """Turns values into tagged lists and collects the bytes of their tensors."""

    def __init__(self) -> None:
        self.blobs: list[bytes | memoryview] = []
        self.size = 0
        self._items = 0

    def pack(self, value: object) -> Value:
        try:
            return self._pack(value, 0)
        except _TooLarge:
            return ["o", "deeply nested or very large " + type(value).__name__[:80]]

    def _pack(self, value: object, depth: int) -> Value:
        self._items += 1
        if depth > MAX_DEPTH or self._items > MAX_ITEMS:
            raise _TooLarge
        if value is None:
            return ["n"]
        if isinstance(value, bool):
            return ["b", bool(value)]
        if isinstance(value, int):
            return ["i", format(int(value), "d")] if abs(value) < 1 << 64 else ["o", "huge int"]
        if isinstance(value, float):
            return ["f", float(value).hex()]
        if isinstance(value, str):
            return ["s", str(value)[:10_000]]
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, (np.ndarray, np.generic)):
            return self._array(np.asarray(value))
        if isinstance(value, tuple):
            return ["t", [self._pack(item, depth + 1) for item in value]]
        if isinstance(value, list):
            return ["l", [self._pack(item, depth + 1) for item in value]]
        if isinstance(value, dict):
            if self.size < MAX_PAYLOAD - SHORT and _is_small_state(value):
                return self._tensors(value)
            pairs = [[str(key)[:1000], self._pack(item, depth + 1)] for key, item in value.items()]
            return ["d", pairs]
        return self.other(value)

    def other(self, value: object) -> Value:
        """What becomes of a value with no form of its own here; the worker keeps modules."""
        return ["o", type(value).__name__[:100]]

    def _tensor(self, tensor: torch.Tensor) -> Value:
        if tensor.layout != torch.strided or tensor.device.type != "cpu" or tensor.is_quantized:
            return ["o", f"{tensor.layout} tensor on {tensor.device.type}".replace("torch.", "")]
        name = _NAMES.get(tensor.dtype)
        if name is None:
            return ["o", f"tensor of {tensor.dtype}"]
        if tensor.nbytes > MAX_PAYLOAD - self.size - ALIGNMENT:
            return ["o", "tensor too large to send"]
        plain = tensor.detach()
        if plain.is_conj() or plain.is_neg() or not plain.is_contiguous():
            plain = plain.resolve_conj().resolve_neg().contiguous()
        if tensor.dtype is torch.bfloat16:  # numpy has none
            plain = plain.view(torch.int16)
        return ["T", name, list(tensor.shape), self._blob(plain.numpy()), self.flags(tensor)]

    def _tensors(self, named: dict[object, torch.Tensor]) -> Value:
        """The state of a small module costs little this way."""
        self._items += len(named)
        with torch.no_grad():
            joined = torch.cat([tensor.reshape(-1) for tensor in named.values()])
        heads = [[str(key)[:1000], list(t.shape), self.flags(t)] for key, t in named.items()]
        return ["D", heads, self._blob(joined.numpy())]

    def flags(self, tensor: torch.Tensor) -> str:
        """What else is to be known of a tensor that is sent."""
        is_parameter = type(tensor) is not torch.Tensor and isinstance(tensor, torch.nn.Parameter)
        return "g" * tensor.requires_grad + "p" * is_parameter

    def _array(self, array: np.ndarray[Any, Any]) -> Value:
        name = array.dtype.name
        if name not in DTYPES or array.dtype.byteorder == ">":
            return ["o", f"numpy array of {name}"[:100]]
        if array.nbytes > MAX_PAYLOAD - self.size - ALIGNMENT:
            return ["o", "array too large to send"]
        return ["A", name, list(array.shape), self._blob(np.ascontiguousarray(array)), ""]

    def _blob(self, array: np.ndarray[Any, Any]) -> int:
        """Takes the bytes of a contiguous array; returns where they begin."""
        offset, size = self.size, array.nbytes
        # Only what is long is worth not being copied.
        self.blobs.append(array.tobytes() if size < SHORT else array.reshape(-1).data.cast("B"))
        if pad := -size % ALIGNMENT:
            self.blobs.append(bytes(pad))
        self.size += size + pad
        return offset

    def hold(self) -> None:
        """Lets go of the tensors packed so far: what happens to them later changes nothing."""
        self.blobs = [bytes(blob) for blob in self.blobs]


def _is_small_state(named: dict[object, Any]) -> bool:
    return (
        len(named) > 1
        and all(map(_is_plain, named.values()))
        and sum(tensor.nbytes for tensor in named.values()) < SHORT - ALIGNMENT
    )


def _is_plain(value: object) -> bool:
    """Whether a tensor is like most: float32, in memory as it looks."""
    return (
        type(value) in (torch.Tensor, torch.nn.Parameter)
        and value.dtype is torch.float32  # type: ignore[attr-defined]
        and value.layout is torch.strided  # type: ignore[attr-defined]
        and value.is_cpu  # type: ignore[attr-defined]
    )


class Unpacker:
    """Turns tagged lists back into values; tensors are views of the frame's own buffer."""

    def __init__(self, payload: bytearray) -> None:
        self.payload = payload
        self._items = 0

    def unpack(self, value: object, depth: int = 0) -> Any:
        self._items += 1
        if depth > MAX_DEPTH or self._items > MAX_ITEMS:
            raise Violation("a value is nested too deeply or has too many parts")
        match value:
            case ["T", str(name), list(shape), int(offset), str(flags)]:
                return self.mark(self._view(name, shape, offset), flags)
            case ["D", list(heads), int(offset)]:
                return self._tensors(heads, offset)
            case ["n"]:
                return None
            case ["b", bool(flag)]:
                return flag
            case ["i", str(digits)] if len(digits) <= 24:
                return _read(int, digits)
            case ["f", str(digits)] if len(digits) <= 40:
                return _read(float.fromhex, digits)
            case ["s", str(text)]:
                return printable(text)
            case ["t", list(items)]:
                return tuple(self.unpack(item, depth + 1) for item in items)
            case ["l", list(items)]:
                return [self.unpack(item, depth + 1) for item in items]
            case ["d", list(pairs)]:
                return dict(self._pair(pair, depth) for pair in pairs)
            case ["A", str(name), list(shape), int(offset), ""] if name != "bfloat16":
                return self._view(name, shape, offset).numpy()
            case ["m", int(handle), str(class_name)]:
                return self.module(handle, printable(class_name[:100]))
            case ["o", str(type_name)]:
                return Opaque(printable(type_name[:100]))
        raise Violation("a value has no known form")

    def _pair(self, pair: object, depth: int) -> tuple[str, Any]:
        match pair:
            case [str(key), item]:
                return printable(key), self.unpack(item, depth + 1)
        raise Violation("a dictionary entry is not a pair of text and value")

    def _tensors(self, heads: Sequence[object], offset: int) -> dict[str, torch.Tensor]:
        named = {}
        self._items += len(heads)
        if self._items > MAX_ITEMS:
            raise Violation("a state has too many parts")
        for head in heads:
            match head:
                case [str(key), list(shape), str(flags)]:
                    tensor = self._view("float32", shape, offset, step=4)
                    named[printable(key)] = self.mark(tensor, flags)
                    offset += tensor.nbytes
                case _:
                    raise Violation("a tensor of a state has no known form")
        return named

    def mark(self, tensor: torch.Tensor, flags: str) -> torch.Tensor:
        """What becomes of a tensor and what is known of it."""
        return tensor

    def module(self, handle: int, class_name: str) -> Any:
        raise Violation("a module where none can be")

    def _view(
        self, name: str, shape: Sequence[object], offset: int, step: int = ALIGNMENT
    ) -> torch.Tensor:
        dtype = DTYPES.get(name)
        if dtype is None or len(shape) > MAX_DIMENSIONS:
            raise Violation("a tensor of unknown dtype or with too many dimensions")
        sizes = _sizes(shape)
        count = math.prod(sizes)
        if math.prod(max(size, 1) for size in sizes) > MAX_PAYLOAD:
            raise Violation("a tensor with an impossible size")
        end = offset + count * dtype.itemsize
        if type(offset) is not int or offset < 0 or offset % step or end > len(self.payload):
            raise Violation("a tensor's bytes lie outside its frame")
        if count == 0:
            return torch.empty(sizes, dtype=dtype)
        if dtype is torch.bool:  # a byte above 1 would be undefined behaviour in torch
            raw = torch.frombuffer(self.payload, dtype=torch.uint8, count=count, offset=offset)
            flat = raw != 0 if bool((raw > 1).any()) else raw.view(torch.bool)
        else:
            flat = torch.frombuffer(self.payload, dtype=dtype, count=count, offset=offset)
        return flat.reshape(sizes)


def printable(text: str) -> str:
    """The text without what has no form in UTF-8 (halves of surrogate pairs)."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _sizes(shape: Sequence[object]) -> list[int]:
    sizes = [size for size in shape if type(size) is int and 0 <= size <= MAX_PAYLOAD]
    if len(sizes) != len(shape):
        raise Violation("a tensor with an impossible size")
    return sizes


def _read(parse: Any, digits: str) -> Any:
    try:
        return parse(digits)
    except (ValueError, OverflowError):
        raise Violation("a number that is none") from None


def send(
    link: socket.socket,
    envelope: dict[str, Any],
    packer: Packer | None = None,
    deadline: float | None = None,
) -> None:
    """Sends one frame. Raises `Closed` when nobody is there, `Late` when nobody reads."""
    text = _encode(envelope)
    blobs = packer.blobs if packer else []
    size = packer.size if packer else 0
    header = HEADER.pack(len(text), size)
    # One packet where it is short; long ones are not copied once more to make one of them.
    parts = [b"".join([header, text, *blobs])] if size < SHORT else [header, text, *blobs]
    try:
        link.settimeout(None if deadline is None else max(deadline - time.monotonic(), 0.001))
        for part in parts:
            link.sendall(part)
    except TimeoutError:
        raise Late from None
    except OSError:
        raise Closed from None


def receive(link: socket.socket, deadline: float | None = None) -> tuple[dict[str, Any], bytearray]:
    """Reads one frame: its envelope and its payload.

    `deadline` is a `time.monotonic()`; without it, waits for ever. Raises `Late`, `Closed` or
    `Violation`, this also where more than a frame is there: nobody has asked for that.
    """
    link.settimeout(None)
    data = bytearray(FIRST)
    count = _read_on(link, data, 0, HEADER.size, deadline)
    envelope_size, payload_size = HEADER.unpack_from(data)
    if envelope_size > MAX_ENVELOPE or payload_size > MAX_PAYLOAD:
        raise Violation("a frame larger than allowed")
    begin = HEADER.size + envelope_size
    size = begin + payload_size
    count = _read_on(link, data, count, size, deadline)
    if count > size:
        raise Violation("it spoke without having been asked")
    text = bytes(data[HEADER.size : begin])
    del data[size:], data[:begin]  # not copied: the payload stays where it is, and is aligned
    if begin % ALIGNMENT:  # unless the other side has not padded the envelope
        data = bytearray(bytes(data))
    try:
        envelope = json.loads(text)
    except (ValueError, RecursionError):
        raise Violation("an envelope that is not JSON") from None
    if not isinstance(envelope, dict):
        raise Violation("an envelope that is not an object")
    return envelope, data


def _read_on(
    link: socket.socket, data: bytearray, count: int, size: int, deadline: float | None
) -> int:
    """Reads into `data` behind `count` bytes until it holds `size`; returns how many it holds."""
    while count < size:
        # The buffer grows with what really arrives, never with what a header promises.
        if count == len(data):
            data.extend(bytes(min(len(data), size - len(data))))
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Late
            link.settimeout(left)
        try:
            with memoryview(data) as view, view[count:] as rest:
                received = link.recv_into(rest)
        except TimeoutError:
            raise Late from None
        except OSError:
            raise Closed from None
        if received == 0:
            raise Closed
        count += received
    return count


def _encode(envelope: dict[str, Any]) -> bytes:
    """JSON, padded so that the payload behind it is aligned."""
    text = json.dumps(envelope, separators=(",", ":")).encode()
    return text + b" " * (-(HEADER.size + len(text)) % ALIGNMENT)
