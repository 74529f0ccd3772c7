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
_SHARED_BELOW = 0.8
_MAX_WAITS = 2**12

Poll = Callable[[Optional[float]], List[Any]]
"""Returns what has happened, after at most so many seconds; None waits without a bound."""


class SpinningWait:
    """Polls over and over for up to `seconds`, but only while events do come within them.

    One wait that was longer ends it, so that nobody's processor is taken for long for nothing: on a
    machine that has more to do than processors, waits are longer. Between two polls whoever else
    wants the processor goes first. Where somebody does, it is content with SPIN_SECONDS for the
    next 64 waits; if somebody still does after these, for 128, and so on.

    Two processes that wake each other are often kept on one processor, of two, though they could
    run at the same time: the one that `steps_aside` then moves.
    """

    def __init__(
        self, poll: Poll, *, seconds: float = SPIN_SECONDS, steps_aside: bool = False
    ) -> None:
        self._poll = poll
        self._longest = seconds
        self._steps_aside = steps_aside
        self._hits = 0
        self._is_alone = len(os.sched_getaffinity(0)) < 2
        self._neighbours = _Neighbours()
        self._modest_waits = 0
        self._next_modest_waits = WAITS_TO_LOOK

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
            self._look_around(begun)
            return events
        self._hits = 0
        self._neighbours.forget()
        return self._poll(timeout)

    def _limit(self) -> float:
        if not self._modest_waits:
            return self._longest
        self._modest_waits -= 1
        return min(self._longest, SPIN_SECONDS)

    def _spin(self, begun: float, seconds: float) -> List[Any]:
        while True:
            events = self._poll(0)
            if events or time.perf_counter() - begun >= seconds:
                return events
            os.sched_yield()  # whoever else wants this processor goes first

    def _look_around(self, begun: float) -> None:
        """After a spin that began then, give way if somebody else needs the processor."""
        if self._modest_waits or not self._neighbours.is_time_to_look(begun):
            return
        if not self._neighbours.were_there(begun):
            self._next_modest_waits = WAITS_TO_LOOK
            return
        self._modest_waits = self._next_modest_waits
        self._next_modest_waits = min(2 * self._next_modest_waits, _MAX_WAITS)
        if self._steps_aside:
            _leave_processor()


class _Neighbours:
    """Whether somebody else has run on the processor of a thread that never sleeps."""

    def __init__(self) -> None:
        self._waits = 0
        self._since = self._used = 0.0

    def forget(self) -> None:
        """Begin anew: the thread has slept."""
        self._waits = 0

    def is_time_to_look(self, now: float) -> bool:
        """Count a wait that began `now`; say whether there were enough of them."""
        if not self._waits:
            self._since, self._used = now, time.thread_time()
        self._waits += 1
        return self._waits >= WAITS_TO_LOOK

    def were_there(self, now: float) -> bool:
        """Say whether much of the time until `now` was not this thread's, and begin anew."""
        self._waits = 0
        return time.thread_time() - self._used < _SHARED_BELOW * (now - self._since)


def _leave_processor() -> None:
    """Have the calling thread go on elsewhere; it may come back."""
    allowed = os.sched_getaffinity(0)
    elsewhere = allowed - {ctypes.CDLL(None).sched_getcpu()}
    if elsewhere:
        os.sched_setaffinity(0, elsewhere)
        os.sched_setaffinity(0, allowed)
