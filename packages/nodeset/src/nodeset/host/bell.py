"""Wake the thread that runs author code, and let it serve the sockets itself while it is idle.

Knows nothing of sockets or of what the thread does. Handing a request from one thread to another
costs more than serving it: a lock's wake-up, two switches, and a fight over the interpreter lock.
"""

from __future__ import annotations

import math
import threading
import time
from typing import Callable, Optional

IDLE_SECONDS = 1.0
"""How long the thread may be idle before the other one stops looking after it."""


class Bell:
    """Wakes one thread; a ring before it waits is not lost."""

    def __init__(self) -> None:
        self._closed = threading.Lock()
        self._closed.acquire()

    def ring(self) -> None:
        """Wake the thread, or have its next wait return at once."""
        try:
            self._closed.release()
        except RuntimeError:
            return  # it has been rung already

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Sleep until it rings or the seconds have passed; say whether it rang."""
        return self._closed.acquire(True, -1 if timeout is None else min(timeout, 1e6))


class SharedPolling(Bell):
    """The bell of a thread that polls while it has nothing else to do.

    `poll(seconds)` serves what happens on the sockets, and `interrupt` ends it early. While the
    thread is at work for longer than `patience` seconds, `watch`, which runs on a thread of its
    own, polls in its place.
    """

    def __init__(
        self,
        poll: Callable[[Optional[float]], None],
        interrupt: Callable[[], None],
        patience: Callable[[], float],
    ) -> None:
        super().__init__()
        self._poll = poll
        self._interrupt = interrupt
        self._patience = patience
        self._polling = threading.Lock()
        self._watcher = Bell()
        self._is_watcher_asleep = False
        self._is_polled_by_owner = False
        self._busy_since = -math.inf
        self._is_stopped = False
        self._owner = threading.get_ident()

    def ring(self) -> None:
        """Wake the owner; what it rings itself it is going to see."""
        if threading.get_ident() != self._owner:
            super().ring()
            if self._is_polled_by_owner:
                self._interrupt()

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Serve the sockets once, or sleep while the other thread does, and wake to work."""
        self._busy_since = math.inf
        if self._polling.acquire(False):
            try:
                self._poll_unless_rung(timeout)
            finally:
                self._is_polled_by_owner = False
                self._polling.release()
        else:
            super().wait(timeout)
        self._busy_since = time.monotonic()
        if self._is_watcher_asleep:
            self._watcher.ring()
        return True

    def _poll_unless_rung(self, timeout: Optional[float]) -> None:
        self._is_polled_by_owner = True  # from now on a ring interrupts
        if not self._closed.acquire(False):
            self._poll(timeout)

    def watch(self) -> None:
        """Poll whenever the owner is at work for long; return after `stop`."""
        while not self._is_stopped:
            if self._is_owner_at_work():
                with self._polling:
                    while self._is_owner_at_work():
                        self._poll(None)
                super().ring()  # the owner may sleep because somebody else polled
            self._rest()

    def stop(self) -> None:
        """Have `watch` return; from now on the owner polls."""
        self._is_stopped = True
        self._watcher.ring()
        self._interrupt()

    def _is_owner_at_work(self) -> bool:
        waiting = time.monotonic() - self._busy_since
        return waiting >= self._patience() and not self._is_stopped

    def _rest(self) -> None:
        """Wait until it is time to look again: soon, unless the owner is idle for long."""
        if self._watcher.wait(self._patience()) or not math.isinf(self._busy_since):
            return
        idle_until = time.monotonic() + IDLE_SECONDS
        while math.isinf(self._busy_since) and not self._is_stopped:
            if time.monotonic() >= idle_until:
                self._is_watcher_asleep = True
                if math.isinf(self._busy_since):  # else it may have looked before that was set
                    self._watcher.wait()
                self._is_watcher_asleep = False
                return
            if self._watcher.wait(self._patience()):
                return
