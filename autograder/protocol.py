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
import socket
import struct
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
READ = 1 << 16  # bytes to ask for before a frame is known

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
Payload = bytearray | memoryview  # both can be written to


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
        if type(value) is torch.Tensor:  # what is most often sent, first
            return self._tensor(value)
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
            if self.size < MAX_PAYLOAD - SHORT and is_small_state(value):
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
        heads = [[str(key)[:1000], list(t.shape), self.flags(t)] for key, t in named.items()]
        return ["D", heads, self._blob(join(named.values()).numpy())]

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


def join(tensors: Iterable[torch.Tensor]) -> torch.Tensor:
    """The numbers of all, one behind the other."""
    with torch.no_grad():
        return torch.cat([tensor.reshape(-1) for tensor in tensors])


def cut(numbers: np.ndarray[Any, Any], shapes: Iterable[Sequence[int]]) -> Iterator[torch.Tensor]:
    """Tensors of these shapes out of what `join` made of them.

    Raises:
        Violation: there are too few numbers.
    """
    begin = 0
    for shape in shapes:
        end = begin + _count(shape)
        if end > len(numbers):
            raise Violation("a tensor's bytes lie outside its frame")
        yield torch.from_numpy(numbers[begin:end].reshape(shape))
        begin = end


def is_small_state(named: Mapping[Any, Any]) -> bool:
    """Whether these are a few float32 tensors that are short enough to be sent as one."""
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

    def __init__(self, payload: Payload) -> None:
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
                return _parse(int, digits)
            case ["f", str(digits)] if len(digits) <= 40:
                return _parse(float.fromhex, digits)
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
        self._items += len(heads)
        if self._items > MAX_ITEMS:
            raise Violation("a state has too many parts")
        known: list[tuple[str, list[Any], str]] = []
        for head in heads:
            match head:
                case [str(key), list(shape), str(flags)]:
                    known.append((printable(key), shape, flags))
                case _:
                    raise Violation("a tensor of a state has no known form")
        tensors = cut(self._numbers(offset), [shape for _, shape, _ in known])
        return {
            key: self.mark(tensor, flags)
            for (key, _, flags), tensor in zip(known, tensors, strict=True)
        }

    def _numbers(self, offset: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Everything from `offset` on as float32."""
        size = len(self.payload) - offset
        if type(offset) is not int or offset < 0 or offset % ALIGNMENT or size < 0:
            raise Violation("a tensor's bytes lie outside its frame")
        if size < 4:
            return np.empty(0, np.float32)
        return np.frombuffer(self.payload, np.float32, size // 4, offset)

    def mark(self, tensor: torch.Tensor, flags: str) -> torch.Tensor:
        """What becomes of a tensor and what is known of it."""
        return tensor

    def module(self, handle: int, class_name: str) -> Any:
        raise Violation("a module where none can be")

    def _view(self, name: str, shape: list[Any], offset: int) -> torch.Tensor:
        dtype = DTYPES.get(name)
        if dtype is None:
            raise Violation("a tensor of unknown dtype")
        count = _count(shape)
        if dtype is torch.bool:  # a byte above 1 would be undefined behaviour in torch
            raw = self._flat(torch.uint8, count, offset)
            return (raw != 0 if bool((raw > 1).any()) else raw.view(torch.bool)).view(shape)
        return self._flat(dtype, count, offset).view(shape)

    def _flat(self, dtype: torch.dtype, count: int, offset: int) -> torch.Tensor:
        """`count` numbers of the payload as a tensor of one axis."""
        end = offset + count * dtype.itemsize
        if type(offset) is not int or offset < 0 or offset % ALIGNMENT or end > len(self.payload):
            raise Violation("a tensor's bytes lie outside its frame")
        if count == 0:
            return torch.empty(0, dtype=dtype)
        return torch.frombuffer(self.payload, dtype=dtype, count=count, offset=offset)


def printable(text: str) -> str:
    """The text without what has no form in UTF-8 (halves of surrogate pairs)."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _count(shape: Sequence[Any]) -> int:
    """How many numbers a tensor of that shape has."""
    if len(shape) > MAX_DIMENSIONS:
        raise Violation("a tensor with too many dimensions")
    count = extent = 1
    for size in shape:
        if type(size) is not int or size < 0:
            raise Violation("a tensor with an impossible size")
        count *= size
        extent *= size or 1
    if extent > MAX_PAYLOAD:
        raise Violation("a tensor with an impossible size")
    return count


def _parse(parse: Any, digits: str) -> Any:
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
    text = _encode(envelope).encode()
    blobs = packer.blobs if packer else []
    size = packer.size if packer else 0
    header = HEADER.pack(len(text), size)
    # One packet where it is short; long ones are not copied once more to make one of them.
    parts = [b"".join([header, text, *blobs])] if size < SHORT else [header + text, *blobs]
    try:
        link.settimeout(None if deadline is None else max(deadline - time.monotonic(), 0.001))
        for part in parts:
            link.sendall(part)
    except TimeoutError:
        raise Late from None
    except OSError:
        raise Closed from None


def receive(link: socket.socket, deadline: float | None = None) -> tuple[dict[str, Any], Payload]:
    """Reads one frame: its envelope and its payload.

    `deadline` is a `time.monotonic()`; without it, waits for ever. Raises `Late`, `Closed` or
    `Violation`, this also where more than a frame is there: nobody has asked for that.
    """
    data = _read(link, READ, deadline)
    while len(data) < HEADER.size:
        data += _read(link, READ, deadline)
    envelope_size, payload_size = HEADER.unpack_from(data)
    if envelope_size > MAX_ENVELOPE or payload_size > MAX_PAYLOAD:
        raise Violation("a frame larger than allowed")
    begin = HEADER.size + envelope_size
    if len(data) < begin:
        gathered = bytearray(data)
        while (missing := begin - len(gathered)) > 0:
            gathered += _read(link, min(READ, missing + payload_size), deadline)
        data = bytes(gathered)
    if len(data) > begin + payload_size:
        raise Violation("it spoke without having been asked")
    text, payload = data[HEADER.size : begin], _aligned(data, begin, payload_size)
    _read_into(link, payload, len(data) - begin, deadline)
    try:
        envelope, end = _decode(text.decode())
    except (ValueError, RecursionError):
        raise Violation("an envelope that is not JSON") from None
    if not isinstance(envelope, dict) or end != envelope_size:
        raise Violation("an envelope that is not one object")
    return envelope, payload


def _aligned(data: bytes, begin: int, size: int) -> Payload:
    """Room for a payload, with what is there of it: the bytes of `data` from `begin`.

    A long one takes no memory before its bytes arrive, whatever a header promises.
    """
    there = memoryview(data)[begin:]
    if len(there) == size:
        return bytearray(there)
    room = memoryview(np.empty(size, np.uint8))  # type: ignore[arg-type]
    room[: len(there)] = there
    return room


def _read(link: socket.socket, size: int, deadline: float | None) -> bytes:
    """Reads what is there, at most `size` bytes; waits until there is something."""
    try:
        link.settimeout(None if deadline is None else _left(deadline))
        data = link.recv(size)
    except TimeoutError:
        raise Late from None
    except OSError:
        raise Closed from None
    if not data:
        raise Closed
    return data


def _read_into(link: socket.socket, payload: Payload, count: int, deadline: float | None) -> None:
    """Reads the rest of a payload, behind the `count` bytes that are there."""
    size = len(payload)
    while count < size:
        try:
            link.settimeout(None if deadline is None else _left(deadline))
            with memoryview(payload) as view, view[count:] as rest:
                received = link.recv_into(rest)
        except TimeoutError:
            raise Late from None
        except OSError:
            raise Closed from None
        if received == 0:
            raise Closed
        count += received


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise Late
    return left


_encode = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder().raw_decode
