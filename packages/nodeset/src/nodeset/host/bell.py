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
    own, looks in its place, once in so many seconds: it never sleeps at the sockets, where the
    owner would have to wake it up and to wait for it.
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
        """Serve the sockets once, or return at once if it rang."""
        self._busy_since = math.inf
        with self._polling:
            self._is_polled_by_owner = True  # from now on a ring interrupts
            try:
                if not self._closed.acquire(False):
                    self._poll(timeout)
            finally:
                self._is_polled_by_owner = False
        self._busy_since = time.monotonic()
        if self._is_watcher_asleep:
            self._watcher.ring()
        return True

    def watch(self) -> None:
        """Poll now and then while the owner is at work for long; return after `stop`."""
        while not self._is_stopped:
            if self._is_owner_at_work() and self._polling.acquire(False):
                try:
                    self._poll(0)
                finally:
                    self._polling.release()
            self._rest()

    def stop(self) -> None:
        """Have `watch` return; from now on the owner polls."""
        self._is_stopped = True
        self._watcher.ring()

    def _is_owner_at_work(self) -> bool:
        return time.monotonic() - self._busy_since >= self._patience()

    def _rest(self) -> None:
        """Wait until it is time to look again: soon, unless the owner is idle for long."""
        idle_until = time.monotonic() + IDLE_SECONDS
        while not self._watcher.wait(self._patience()):
            if self._busy_since != math.inf:
                return
            if time.monotonic() >= idle_until:
                self._is_watcher_asleep = True
                if self._busy_since == math.inf:  # else it may have looked before that was set
                    self._watcher.wait()
                self._is_watcher_asleep = False
                return
