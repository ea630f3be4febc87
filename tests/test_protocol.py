"""Does the protocol carry values exactly, and refuse everything else without harm?"""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from waiting import WAIT_SECONDS

from autograder import protocol
from autograder.protocol import Closed, Late, Opaque, Packer, Unpacker, Violation


def carry(value: object) -> Any:
    """What arrives of a value at the other end."""
    packer = Packer()
    envelope = {"value": packer.pack(value)}
    here, there = socket.socketpair()
    with here, there:
        protocol.send(there, envelope, packer)
        received, payload = protocol.receive(here, time.monotonic() + WAIT_SECONDS)
    return Unpacker(payload).unpack(received["value"])


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.text()
    | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(plain)
def test_plain_values_survive(value: object) -> None:
    assert carry(value) == value


def test_text_that_has_no_form_in_utf8_arrives_in_part() -> None:
    assert carry({"a\ud800": "b\udfffc"}) == {"a?": "b?c"}


@pytest.mark.parametrize("length", range(20))
def test_a_payload_is_aligned_whether_the_envelope_was_padded_or_not(length: int) -> None:
    text = b'{"a":"' + b"x" * length + b'"}'
    here, there = socket.socketpair()
    with here, there:
        there.sendall(struct.pack("<IQ", len(text), 16) + text + bytes(range(16)))
        _, payload = protocol.receive(here, time.monotonic() + WAIT_SECONDS)
    tensor = Unpacker(payload).unpack(["T", "uint8", [16], 0, ""])
    assert tensor.tolist() == list(range(16)) and tensor.data_ptr() % protocol.ALIGNMENT == 0


def test_a_state_crosses_in_one_piece() -> None:
    state = {"weight": torch.randn(3, 4).T, "bias": torch.randn(3), "none": torch.empty(0, 2)}
    state |= {"scale": torch.nn.Parameter(torch.tensor(2.0))}
    assert Packer().pack(state)[0] == "D"
    back = carry(state)
    assert list(back) == list(state)
    assert all(torch.equal(back[name], state[name]) for name in state)
    assert Packer().pack(state | {"count": torch.tensor(1)})[0] == "d"  # not all of one kind


def test_a_state_of_too_many_parts_is_refused() -> None:
    heads = [[str(number), [0], ""] for number in range(protocol.MAX_ITEMS + 1)]
    with pytest.raises(Violation, match="too many parts"):
        Unpacker(bytearray()).unpack(["D", heads, 0])


def test_what_is_held_does_not_change_any_more() -> None:
    long = torch.zeros(protocol.SHORT)
    packer = Packer()
    packed = packer.pack(long)
    packer.hold()
    long += 1
    assert not Unpacker(bytearray(b"".join(packer.blobs))).unpack(packed).any()


@given(st.lists(st.floats(width=32), max_size=20), st.sampled_from(["float32", "float64"]))
def test_tensors_survive_to_the_bit(numbers: list[float], dtype: str) -> None:
    tensor = torch.tensor(numbers, dtype=getattr(torch, dtype))
    back = carry((tensor, tensor))[1]
    assert back.dtype == tensor.dtype and back.numpy().tobytes() == tensor.numpy().tobytes()


def test_arrays_keep_their_kind_and_unknown_things_only_their_name() -> None:
    assert isinstance(carry(np.ones((2, 3))), np.ndarray)
    assert carry(np.float32(2.5)) == np.float32(2.5)
    for value in (object(), lambda: 0, {1, 2}, np.array(["a"]), torch.eye(2).to_sparse(), 1 << 70):
        assert isinstance(carry(value), Opaque), value


def test_a_value_that_contains_itself_ends() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert isinstance(carry(loop), Opaque)
    assert isinstance(carry([0.5] * 60_000), Opaque)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=25,
)
tagged = st.tuples(
    st.sampled_from(["n", "b", "i", "f", "s", "l", "t", "d", "T", "D", "A", "m", "o"]),
    junk | st.sampled_from(list(protocol.DTYPES)),
    junk | st.lists(st.integers(-2, 1 << 62), max_size=20),
    junk | st.integers(-16, 1 << 40),
    st.text(max_size=2),
).map(list)


@settings(max_examples=400)
@given(
    junk | tagged | st.lists(tagged, max_size=3).map(lambda items: ["l", items]),
    st.binary(max_size=64),
)
def test_any_value_is_read_or_is_a_violation(value: object, payload: bytes) -> None:
    with contextlib.suppress(Violation):
        Unpacker(bytearray(payload)).unpack(value)


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=200)
    | st.tuples(st.integers(0, 300), st.integers(0, 300), st.binary(max_size=400))
)
def test_any_bytes_are_a_frame_or_an_explicit_refusal(data: bytes | tuple[int, int, bytes]) -> None:
    if isinstance(data, tuple):
        data = struct.pack("<IQ", *data[:2]) + data[2]
    here, there = socket.socketpair()
    with here, there:
        there.sendall(data)
        there.shutdown(socket.SHUT_WR)
        try:
            envelope, payload = protocol.receive(here, time.monotonic() + WAIT_SECONDS)
        except (Violation, Closed):
            return
        assert isinstance(envelope, dict) and isinstance(payload, bytearray)


def test_sizes_are_refused_before_memory_is_reserved() -> None:
    here, there = socket.socketpair()
    with here, there:
        there.sendall(struct.pack("<IQ", 10, 1 << 62))
        with pytest.raises(Violation, match="larger than allowed"):
            protocol.receive(here, time.monotonic() + WAIT_SECONDS)


def test_deep_json_is_a_violation() -> None:
    text = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    here, there = socket.socketpair()
    with here, there:
        there.settimeout(WAIT_SECONDS)
        import threading

        threading.Thread(
            target=there.sendall, args=(struct.pack("<IQ", len(text), 0) + text,)
        ).start()
        with pytest.raises(Violation):
            protocol.receive(here, time.monotonic() + WAIT_SECONDS)


def test_silence_is_late() -> None:
    here, there = socket.socketpair()
    with here, there:
        there.sendall(struct.pack("<IQ", 10, 0))
        with pytest.raises(Late):
            protocol.receive(here, time.monotonic() + 0.05)
