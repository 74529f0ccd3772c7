"""Who polls: the thread that runs author code while it is idle, another one while it works."""

from __future__ import annotations

import threading
from queue import Empty, Queue

import pytest

from nodeset.host.bell import Bell, SharedPolling

DEADLINE_SECONDS = 20.0


class Sockets:
    """Things that happen, and which thread served each; None interrupts."""

    def __init__(self):
        self.events = Queue()
        self.served = Queue()

    def poll(self, timeout):
        try:
            event = self.events.get(timeout=DEADLINE_SECONDS if timeout is None else timeout)
        except Empty:
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
    watcher.join(DEADLINE_SECONDS)
    assert not watcher.is_alive()


def test_a_ring_before_the_wait_is_not_lost_and_counts_once():
    bell = Bell()
    bell.ring()
    bell.ring()
    assert bell.wait(DEADLINE_SECONDS)
    assert not bell.wait(0)


def test_while_the_owner_works_the_other_thread_serves(polling):
    polling.sockets.events.put("health")
    assert polling.sockets.served.get(timeout=DEADLINE_SECONDS) == ("health", "watcher")


def test_the_owner_serves_itself_once_it_is_idle(polling):
    polling.sockets.events.put("first")
    polling.sockets.served.get(timeout=DEADLINE_SECONDS)
    for event in ("second", "third", "fourth"):
        polling.sockets.events.put(event)
        polling.wait(DEADLINE_SECONDS)
    served = [polling.sockets.served.get(timeout=DEADLINE_SECONDS) for _ in range(3)]
    assert served[-1][1] == "MainThread"


def test_a_ring_from_another_thread_ends_the_owners_polling(polling):
    polling.sockets.events.put("first")
    polling.sockets.served.get(timeout=DEADLINE_SECONDS)
    ringing = threading.Timer(0.05, polling.ring)
    ringing.start()
    polling.wait(DEADLINE_SECONDS)
    ringing.join(DEADLINE_SECONDS)
