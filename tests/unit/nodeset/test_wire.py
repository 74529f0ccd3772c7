"""What crosses the wire, what is refused, and that no bytes can do worse than a WireError."""

from __future__ import annotations

import struct

import msgpack
import numpy as np
import pytest

from nodeset import WireError
from nodeset.wire import MAGIC, MAX_BODY_BYTES, PREFIX, Decoder, copy_message, encode


def crossed(value):
    return copy_message({"value": value})["value"]


def frame(header, body=b"", buffers=0):
    packed = header if isinstance(header, bytes) else msgpack.packb(header)
    return PREFIX.pack(MAGIC, 0, buffers, len(packed), len(body)) + packed + body


def array_at(*place):
    return {"value": msgpack.ExtType(1, msgpack.packb(list(place)))}


def same(left, right):
    return left.dtype == right.dtype and left.shape == right.shape and np.array_equal(left, right)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=np.float32).reshape(3, 4),
        np.arange(24).reshape(4, 6)[::2, ::-3],
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(5, dtype=">f8"),
        np.array(7, dtype=np.int16),
        np.zeros((0, 3), np.uint8),
        np.zeros((2, 0, 5), ">i4"),
        np.array([True, False]),
        np.array([1 + 2j], np.complex64),
        np.array(["a", "bcd"]),
        np.array(["", ""], "<U0"),
        np.array([b"x", b"yz"]),
        np.array(["2020-01-02"], "M8[D]"),
        np.array([3], "m8[ns]"),
        np.zeros((300, 400, 3), np.uint8),
    ],
    ids=lambda array: f"{array.dtype.str}{array.shape}",
)
def test_an_array_arrives_with_its_dtype_shape_and_values(array):
    assert same(crossed(array), array)


def test_arrays_arrive_read_only_and_aligned():
    small, large = crossed([np.ones(3), np.ones(100_000)])
    for array in (small, large):
        assert array.ctypes.data % 64 == 0
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)


def test_a_copy_shares_no_memory_with_what_was_sent():
    sent = np.zeros(100_000)
    arrived = crossed(sent)
    sent[:] = 1
    assert not arrived.any()


def test_tuples_arrive_as_lists_and_numpy_scalars_as_python_numbers():
    value = {"a": (1, (2,)), "b": np.float32(0.5), "c": np.bool_(True), "d": np.uint64(2**64 - 1)}
    arrived = crossed(value)
    assert arrived == {"a": [1, [2]], "b": 0.5, "c": True, "d": 2**64 - 1}
    assert [type(item) for item in arrived.values()] == [list, float, bool, int]


@pytest.mark.parametrize("value", [None, True, -(2**63), 0.1, "text ☃", b"\x00\xff", [], {}, [{}]])
def test_a_plain_value_arrives_as_it_was(value):
    assert crossed(value) == value


def test_nan_and_infinity_cross():
    nan, infinity = crossed([float("nan"), float("-inf")])
    assert nan != nan
    assert infinity == float("-inf")


def cyclic():
    value = []
    value.extend([value, value])
    return value


def nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (2**64, "64 bits"),
        ({1, 2}, "builtins.set"),
        (object(), "builtins.object"),
        ({1: 2}, "key 1; keys must be text"),
        (nested(80), "nested deeper than 64"),
        (cyclic(), "."),
        ("\ud800", "cannot be encoded"),
        (1j, "builtins.complex"),
        (np.array([object()]), "dtype object"),
        (np.zeros(2, [("x", "f4")]), "dtype"),
        (np.ma.masked_array([1, 2], [True, False]), "masked array"),
        (np.zeros(2, [("x", "U0")])["x"], "items have no bytes"),
        ([np.zeros(1)] * 1025, "1025 arrays"),
        (b"x" * (17 * 2**20), "bytes of header"),
        (np.broadcast_to(np.uint8(0), (MAX_BODY_BYTES + 1,)), "bytes of arrays"),
        (msgpack.ExtType(1, b"x"), "ExtType"),
        (msgpack.Timestamp(1), "Timestamp"),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_what_is_not_passive_data_is_refused_with_a_reason(value, message):
    with pytest.raises(WireError, match=message):
        encode({"value": value})


def test_sixty_four_levels_cross():
    assert crossed(nested(63)) == nested(63)


@pytest.mark.parametrize("size", [1, 7, 100, 10_000_000])
def test_frames_are_found_however_the_stream_is_cut(size):
    messages = [{"id": i, "value": np.full(n, i)} for i, n in enumerate((0, 3, 9_000, 20_000, 1))]
    stream = b"".join(b"".join(encode(message)) for message in messages)
    decoder, arrived = Decoder(), []
    for start in range(0, len(stream), size):
        arrived.extend(decoder.feed(stream[start : start + size]))
    assert [message["id"] for message in arrived] == [0, 1, 2, 3, 4]
    assert all(same(a["value"], b["value"]) for a, b in zip(arrived, messages))


def test_messages_before_a_malformed_frame_still_arrive():
    messages = Decoder().feed(frame({"id": 1}) + b"GET / HTTP/1.1\r\nHost: example\r\n")
    assert next(messages) == {"id": 1}
    with pytest.raises(WireError, match="begins with"):
        next(messages)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (struct.pack("<4sHHIQ", b"WFR1", 1, 0, 1, 0) + b"\x80", "flags"),
        (struct.pack("<4sHHIQ", b"WFR1", 0, 0, 2**25, 0), "bytes of header"),
        (struct.pack("<4sHHIQ", b"WFR1", 0, 0, 1, 2**31), "bytes of arrays"),
        (struct.pack("<4sHHIQ", b"WFR1", 0, 2000, 1, 0), "2000 arrays"),
        (frame(b""), "not msgpack"),
        (frame(b"\x80\x80"), "not msgpack"),
        (frame(b"\xc1"), "not msgpack"),
        (frame([1]), "must hold a map"),
        (frame({1: 2}), "keys must be text"),
        (frame({b"a": 2}), "keys must be text"),
        (frame(b"\x81\xa1a" + b"\x91" * 5000 + b"\xc0"), "not msgpack|nested"),
        (frame(b"\x81\xa1a" + b"\x91" * 200 + b"\xc0"), "nested"),
        (frame(b"\x81\xa1a\xdd\xff\xff\xff\xff"), "not msgpack"),
        (frame(b"\x81\xa1a\xa1\xff"), "not msgpack"),
        (frame({"a": msgpack.ExtType(2, b"")}), "extension type 2"),
        (frame({"a": msgpack.Timestamp(1)}), "Timestamp"),
        (frame({"a": msgpack.ExtType(1, b"\xc1")}), "malformed array"),
        (frame(array_at(0, "|O", [1], 0, 8), bytes(64), 1), "dtype"),
        (frame(array_at(0, "i4,f4", [1], 0, 8), bytes(64), 1), "dtype"),
        (frame(array_at(0, "<f8", [2], 0, 8), bytes(64), 1), "does not fit"),
        (frame(array_at(0, "<f8", [-1, -1], 0, 8), bytes(64), 1), "does not fit"),
        (frame(array_at(0, "<f8", [9], 0, 72), bytes(64), 1), "does not fit"),
        (frame(array_at(0, "<f8", [1], 2**63, 8), bytes(64), 1), "does not fit"),
        (frame(array_at(0, "<f8", [1], -64, 8), bytes(64), 1), "does not fit"),
        (frame(array_at(1, "<f8", [1], 0, 8), bytes(64), 1), "does not fit"),
        (frame(array_at(0, "<f8", [0, 2**63], 0, 0), bytes(64), 1), "malformed array"),
        (frame(array_at(0, "<f8", [1] * 33, 0, 8), bytes(64), 1), "does not fit"),
        (frame(array_at(0, "<f8", 1, 0, 8), bytes(64), 1), "does not fit"),
        (frame(array_at(0, "<f8"), bytes(64), 1), "malformed array"),
    ],
)
def test_a_malformed_frame_is_a_wire_error(data, message):
    with pytest.raises(WireError, match=message):
        list(Decoder().feed(data))


def test_random_damage_is_never_worse_than_a_wire_error():
    rng = np.random.default_rng(0)
    value = {"id": 1, "inputs": {"a": np.arange(9.0), "b": [1, {"c": "d"}], "e": np.zeros(0)}}
    whole = b"".join(encode(value))
    for _ in range(3000):
        damaged = bytearray(whole)
        for position in rng.integers(0, len(whole), 3):
            damaged[position] = rng.integers(0, 256)
        decoder = Decoder()
        decoder.max_body_bytes = 2**20
        try:
            list(decoder.feed(bytes(damaged)))
        except WireError:
            continue


def test_a_lower_bound_holds_until_it_is_raised():
    decoder = Decoder()
    decoder.max_body_bytes = 64
    data = b"".join(encode({"value": np.zeros(100)}))
    with pytest.raises(WireError, match="at most 64"):
        list(decoder.feed(data))
