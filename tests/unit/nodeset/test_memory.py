"""Memory that both ends of a connection map: values, lifetimes, exhaustion, and lies."""

from __future__ import annotations

import gc
import os
import socket
from pathlib import Path

import msgpack
import numpy as np
import pytest
from tests.unit.nodeset.streams import Pair

from nodeset import WireError
from nodeset.arena import MAX_ARENA_BYTES, SEALS, SMALLEST_BYTES, Arena, block_size
from nodeset.frame import NOTICE, PREFIX, pack_prefix
from nodeset.lease import Leases
from nodeset.stream import Stream

fcntl = pytest.importorskip("fcntl")


@pytest.fixture
def pair():
    found = Pair()
    yield found
    for stream in found.ends:
        stream.close()


def image(seed=0):
    return np.random.default_rng(seed).integers(0, 255, (120, 160, 3), np.uint8)


def large(value=0):
    return np.full(2**23 - 7, value, np.uint8)


@pytest.mark.parametrize(
    "array",
    [
        image(),
        np.arange(60_000.0).reshape(200, 300)[::-1, ::2],
        np.asfortranarray(np.arange(90_000, dtype=">i4").reshape(300, 300)),
        np.full((SMALLEST_BYTES,), "ab"),
    ],
    ids=lambda array: f"{array.dtype.str}{array.shape}",
)
def test_a_large_array_crosses_through_memory_and_arrives_read_only(pair, array):
    arrived = pair.cross({"rgb": array})["rgb"]
    assert pair.is_mapped
    assert arrived.dtype == array.dtype
    assert np.array_equal(arrived, array)
    assert not arrived.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        arrived.setflags(write=True)


def test_small_arrays_stay_in_the_frame(pair):
    assert pair.cross(np.ones(4)).tolist() == [1.0] * 4
    assert not pair.is_mapped


@pytest.mark.parametrize(
    "keep",
    [
        lambda array: array[100:200, ::2],
        lambda array: array.transpose(2, 0, 1)[1],
        lambda array: memoryview(array).cast("B")[1000:],
        lambda array: array.reshape(-1).view(np.uint16)[5:],
        lambda array: np.asarray(memoryview(array)),
    ],
    ids=["slice", "transposed", "memoryview", "reinterpreted", "array of a memoryview"],
)
def test_what_is_kept_of_an_array_keeps_its_values_over_a_thousand_calls(pair, keep):
    kept = keep(pair.cross(image()))
    expected = np.array(keep(image()))
    other = image(1)
    for _ in range(1000):
        pair.cross(other)
        pair.cross(0, back=True)
    assert np.array_equal(np.asarray(kept), expected)


def test_memory_that_nobody_reads_any_more_is_lent_again(pair):
    for seed in range(50):
        pair.cross(image(seed))
        pair.cross(0, back=True)  # carries the release
    assert pair.lent <= 2 * block_size(image().nbytes)


def test_a_receiver_that_hoards_has_the_rest_copied_and_starves_nobody(pair):
    count = 2 * MAX_ARENA_BYTES // large().nbytes
    hoard = []
    for seed in range(count):
        hoard.append(pair.cross(large(seed)))
        assert pair.is_mapped
        pair.cross(0, back=True)
    assert pair.lent <= MAX_ARENA_BYTES // 2 + 2 * block_size(large().nbytes)
    assert all((kept == seed).all() for seed, kept in enumerate(hoard))


def test_a_full_arena_falls_back_to_the_frame_and_recovers(pair):
    sent = [pair.left.pack({"value": large()}) for _ in range(MAX_ARENA_BYTES // large().nbytes)]
    assert np.array_equal(pair.cross(large(3)), large(3))
    assert not pair.is_mapped
    for _, body in sent:
        body.withdraw()
    assert np.array_equal(pair.cross(np.zeros(40_000)), np.zeros(40_000))
    assert pair.is_mapped


def test_memory_is_not_lent_to_an_end_that_has_not_said_that_it_maps(pair):
    pair.left._memory.is_lending = False
    assert np.array_equal(pair.cross(image()), image())
    assert not pair.is_mapped


def test_a_kept_copy_stays_until_its_sender_has_read_it_too():
    arena = Arena(lambda number, size, descriptor: True)
    block = arena.place(np.ones(10_000), pins=2).block
    arena.release(block.segment, block.offset)
    assert arena.place(np.ones(10_000), pins=1).block.offset != block.offset
    arena.unpin(block)
    assert arena.place(np.ones(10_000), pins=1).block is block


def test_a_second_release_is_refused(pair):
    pair.cross(image())
    place = pair.right._memory.leases.take_released()
    assert place == [(0, 0)]
    for attempt in range(2):
        send_notice(pair, [1, place])
        if attempt:
            with pytest.raises(WireError, match="nothing is lent"):
                list(pair.left.receive())
        else:
            list(pair.left.receive())


def send_notice(pair, content):
    header = msgpack.packb(content)
    pair.right.outbox.send([pack_prefix(len(header), flags=NOTICE) + header])


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        [7],
        [0, 0, 2**20],
        [0, 0],
        [1],
        [1, 5],
        [1, [[0]]],
        [1, [["a", {}]]],
        [1, [[0, 0]]],
        [1, [[{}, []]]],
    ],
    ids=repr,
)
def test_a_malformed_notice_is_a_wire_error(pair, content):
    send_notice(pair, content)
    with pytest.raises(WireError, match="memory"):
        list(pair.left.receive())


@pytest.mark.parametrize(
    "place",
    [
        [0, "|u1", [2**16], 2**23, 2**16],
        [0, "|u1", [2**24], 0, 2**24],
        [1, "|u1", [2**16], 0, 2**16],
        [-1, "|u1", [2**16], 0, 2**16],
        [0, "|u1", [2**16], -64, 2**16],
        [0, "|u1", [2**16], 7, 2**16],
        [0, "|u1", [2**16], 2**70 % 2**64, 2**16],
        [0, "|u1", [5], 0, 2**16],
        [0, "|u1", [0], 0, 0],
        [0, "|O", [2**13], 0, 2**16],
        [0, "|u1", [2**16], 0, 2**16],
    ],
    ids=repr,
)
def test_a_place_outside_the_memory_or_in_use_is_a_wire_error(pair, place):
    kept = pair.cross(np.zeros(2**16, np.uint8))
    header = msgpack.packb({"value": msgpack.ExtType(2, msgpack.packb(place))})
    pair.left.outbox.send([pack_prefix(len(header)) + header])
    with pytest.raises(WireError, match="malformed array"):
        list(pair.right.receive())
    assert not kept.any()


def make_segment(size, seals=SEALS):
    descriptor = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, size)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def test_only_memory_that_cannot_shrink_is_mapped(tmp_path):
    file = (tmp_path / "file").open("w+b")
    file.truncate(2**20)
    cases = [
        (make_segment(2**20, fcntl.F_SEAL_GROW), 2**20),
        (make_segment(2**20), 2**21),
        (make_segment(2**20), 0),
        (os.dup(file.fileno()), 2**20),
        (os.pipe()[0], 2**20),
    ]
    for descriptor, size in cases:
        with pytest.raises(WireError, match="cannot be mapped"):
            Leases().add_segment(0, size, descriptor)
        os.close(descriptor)
    file.close()


def count_descriptors():
    gc.collect()  # what other tests left
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_descriptor_that_nobody_asks_for_ends_the_connection_and_is_closed(pair):
    before = count_descriptors()
    reader, writer = os.pipe()
    for _ in range(5):
        assert pair.left.outbox.announce(b"W", reader)
    os.close(reader)
    os.close(writer)
    for _ in range(4):
        assert not list(pair.right.receive())
    with pytest.raises(WireError, match="no frame asks for"):
        pair.right.receive()
    assert count_descriptors() == before


def test_descriptors_do_not_grow_with_the_arrays_that_cross(pair):
    kept = [pair.cross(image())]
    before = count_descriptors()
    kept += [pair.cross(image(seed)) for seed in range(5)]
    assert count_descriptors() == before


def test_a_connection_without_memory_refuses_notices_and_places():
    left, right = (Stream(sock) for sock in socket.socketpair())
    header = msgpack.packb([1, []])
    left.outbox.send([pack_prefix(len(header), flags=NOTICE) + header])
    with pytest.raises(WireError, match="flags 0x1"):
        list(right.receive())
    left.close()
    right.close()


def test_random_damage_to_notices_is_never_worse_than_a_wire_error(pair):
    rng = np.random.default_rng(0)
    header = msgpack.packb([1, [[0, 0], [0, 2**21]]])
    whole = pack_prefix(len(header), flags=NOTICE) + header
    for _ in range(1000):
        damaged = bytearray(whole)
        damaged[rng.integers(PREFIX.size, len(whole))] = rng.integers(0, 256)
        try:
            pair.left._memory.read_notice(bytes(damaged[PREFIX.size :]))
        except WireError:
            continue


def test_what_may_be_lent_grows_with_the_workers_of_a_connection(pair):
    for end in (pair.left, pair.right):
        end.make_room(3)
        end.lend_memory(3)
        end.make_room(1)  # two have left
    sent = [
        pair.left.pack({"value": large()}) for _ in range(2 * MAX_ARENA_BYTES // large().nbytes)
    ]
    assert all(body.placed for _, body in sent)
    pair.cross(0)
    for _, body in sent:
        body.withdraw()
