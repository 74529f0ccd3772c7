"""Wait for events without falling asleep, where they have been coming sooner than a sleeper wakes.

Knows nothing of what the events are or of who brings them about.
"""

from __future__ import annotations

import ctypes
import os
import time
from typing import Any, Callable, List, Optional

SPIN_SECONDS = 0.000_2
"""To sleep and to be woken takes about 50 µs at either end: for a few of these, staying up pays."""
HITS_TO_SPIN = 3
WAITS_TO_LOOK = 64
"""Waits after which it is looked whether the processor is somebody else's too."""
CROWDED_SECONDS = 0.001
"""How long nobody stays away who steps aside on a processor that nobody else needs."""
MODEST_WAITS = 64
"""For how many waits the processor is left to others, once that was seen."""
_SHARED_BELOW = 0.8
_MAX_WAITS = 2**16

Poll = Callable[[Optional[float]], List[Any]]
"""Returns what has happened, after at most so many seconds; None waits without a bound."""


class SpinningWait:
    """Polls over and over for up to `seconds`, but only while events do come within them.

    One wait that was longer ends it, so that nobody's processor is taken for long for nothing: on a
    machine that has more to do than processors, waits are longer. It steps aside after every poll;
    who is away for long by that has taken the processor from somebody, and is content with
    SPIN_SECONDS for some time.

    Two processes that wake each other are often kept on one processor, of two, though they could
    run at the same time: the one that `steps_aside` then moves.
    """

    def __init__(
        self, poll: Poll, *, seconds: float = SPIN_SECONDS, steps_aside: bool = False
    ) -> None:
        self._poll = poll
        self._longest = seconds
        self._hits = 0
        self._is_alone = len(os.sched_getaffinity(0)) < 2
        self._neighbours = _Neighbours() if steps_aside else None
        self._modest_waits = 0
        self._next_modest_waits = MODEST_WAITS

    def wait(self, timeout: Optional[float] = None) -> List[Any]:
        """Return what has happened, once there is something or the seconds have passed."""
        if timeout == 0:
            return self._poll(0)  # a look, which says nothing of waits
        begun = time.perf_counter()
        seconds = self._limit()
        if self._hits < HITS_TO_SPIN:
            events = self._poll(timeout)
            is_hit = events and time.perf_counter() - begun <= seconds
            self._hits = self._hits + 1 if is_hit and not self._is_alone else 0
            return events
        events = self._spin(begun, seconds if timeout is None else min(timeout, seconds))
        if events:
            if self._neighbours is not None:
                self._neighbours.note_spin(begun)
            return events
        self._hits = 0
        return self._poll(timeout)

    def _limit(self) -> float:
        if not self._modest_waits:
            return self._longest
        self._modest_waits -= 1
        return min(self._longest, SPIN_SECONDS)

    def _spin(self, begun: float, seconds: float) -> List[Any]:
        looked = begun
        while True:
            events = self._poll(0)
            now = time.perf_counter()
            if now - looked >= CROWDED_SECONDS:
                self._be_modest()
                return events
            if events or now - begun >= seconds:
                return events
            looked = now
            os.sched_yield()  # whoever else wants this processor goes first

    def _be_modest(self) -> None:
        self._modest_waits = self._next_modest_waits
        self._next_modest_waits = min(2 * self._next_modest_waits, _MAX_WAITS)


class _Neighbours:
    """Whether somebody else has run on the processor of a thread that never sleeps."""

    def __init__(self) -> None:
        self._waits = 0
        self._waits_to_look = WAITS_TO_LOOK
        self._since = self._used = 0.0

    def note_spin(self, now: float) -> None:
        """Count a wait that began `now`; every so often look, and move if there was somebody."""
        self._waits += 1
        if self._waits == 1:
            self._since, self._used = now, time.thread_time()
        if self._waits < self._waits_to_look:
            return
        self._waits = 0
        if time.thread_time() - self._used < _SHARED_BELOW * (now - self._since):
            _leave_processor()
            self._waits_to_look = min(2 * self._waits_to_look, _MAX_WAITS)
        else:
            self._waits_to_look = WAITS_TO_LOOK


def _leave_processor() -> None:
    """Have the calling thread go on elsewhere; it may come back."""
    allowed = os.sched_getaffinity(0)
    elsewhere = allowed - {ctypes.CDLL(None).sched_getcpu()}
    if elsewhere:
        os.sched_setaffinity(0, elsewhere)
        os.sched_setaffinity(0, allowed)
