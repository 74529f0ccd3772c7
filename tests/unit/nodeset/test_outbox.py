"""Bytes that a socket does not take wait, for as long as the other end reads at all."""

from __future__ import annotations

import socket

import pytest

from nodeset.outbox import STALL_SECONDS, Outbox

FRAME = bytes(2**20)
BOUND = 4 * 2**20


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    yield ours, theirs
    ours.close()
    theirs.close()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def outbox(ends, clock):
    outbox = Outbox(ends[0], clock=clock)
    outbox.max_pending_bytes = BOUND
    return outbox


def send_beyond_the_bound(outbox):
    while outbox.pending_bytes <= BOUND:
        outbox.send([FRAME])


def test_who_reads_slowly_is_not_given_up(outbox, ends, clock):
    send_beyond_the_bound(outbox)
    for _ in range(5):
        clock.now += STALL_SECONDS
        ends[1].recv(2**16)
        outbox.flush()
        outbox.send([FRAME])
    assert not outbox.is_broken
    assert outbox.pending_bytes > BOUND


def test_all_that_waited_arrives_in_the_end(outbox, ends):
    send_beyond_the_bound(outbox)
    outbox.send([b"last"])
    total = outbox.frames * len(FRAME) - len(FRAME) + len(b"last")
    came = bytearray()
    while len(came) < total:
        outbox.flush()
        came += ends[1].recv(2**20)
    assert came == bytes(total - len(b"last")) + b"last"
    assert outbox.pending_bytes == 0


def test_who_reads_nothing_for_long_is_given_up_where_too_much_waits(outbox, clock):
    send_beyond_the_bound(outbox)
    clock.now += STALL_SECONDS + 1.0
    outbox.send([FRAME])
    assert outbox.is_broken
    assert outbox.pending_bytes == 0


def test_who_reads_nothing_for_long_is_kept_where_little_waits(outbox, clock):
    while not outbox.pending_bytes:
        outbox.send([FRAME])
    clock.now += STALL_SECONDS + 1.0
    outbox.send([FRAME])
    assert not outbox.is_broken
