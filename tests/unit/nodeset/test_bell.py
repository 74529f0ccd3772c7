"""Who polls: the thread that runs author code while it is idle, another one while it works."""

from __future__ import annotations

import threading
from queue import Empty, Queue

import pytest
from tests.deadline import HANG_SECONDS

from nodeset.host.bell import Bell, SharedPolling


class Sockets:
    """Things that happen, and which thread served each; None interrupts.

    `on_sleep` is called by who is about to wait for something to happen.
    """

    def __init__(self):
        self.events = Queue()
        self.served = Queue()
        self.on_sleep = lambda: None

    def poll(self, timeout):
        if timeout is None:
            self.on_sleep()
        try:
            event = self.events.get(timeout=HANG_SECONDS if timeout is None else timeout)
        except Empty:
            assert timeout is not None, "it sleeps and nobody wakes it"
            return
        if event is not None:
            self.served.put((event, threading.current_thread().name))


@pytest.fixture
def polling():
    sockets = Sockets()
    found = SharedPolling(sockets.poll, lambda: sockets.events.put(None), lambda: 0.005)
    found.sockets = sockets
    watcher = threading.Thread(target=found.watch, name="watcher", daemon=True)
    watcher.start()
    yield found
    found.stop()
    watcher.join(HANG_SECONDS)
    assert not watcher.is_alive()


def test_a_ring_before_the_wait_is_not_lost_and_counts_once():
    bell = Bell()
    bell.ring()
    bell.ring()
    assert bell.wait(HANG_SECONDS)
    assert not bell.wait(0)


def test_while_the_owner_works_the_other_thread_serves(polling):
    polling.sockets.events.put("health")
    assert polling.sockets.served.get(timeout=HANG_SECONDS) == ("health", "watcher")


def test_the_owner_serves_itself_once_it_is_idle(polling):
    events = iter(["first", "second", "third"])
    polling.sockets.on_sleep = lambda: polling.sockets.events.put(next(events))
    for event in ("first", "second", "third"):
        polling.wait()
        assert polling.sockets.served.get(timeout=HANG_SECONDS) == (event, "MainThread")


def test_a_ring_from_another_thread_ends_the_owners_polling(polling):
    ringing = threading.Thread(target=polling.ring)
    polling.sockets.on_sleep = ringing.start
    polling.wait()
    ringing.join(HANG_SECONDS)
    assert not ringing.is_alive()
