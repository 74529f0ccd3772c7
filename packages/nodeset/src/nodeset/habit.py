"""Learn from a caller's last calls where it calls next, and how soon.

Knows nothing of batches: what a key names is its owner's affair.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque
from typing import Any, Deque, Dict, List, Optional, Tuple

_SAMPLES = 8
_MAX_HABITS = 256
_MISSES_TO_CHANGE = 2


class Window:
    """The last few of a kind of durations, in seconds."""

    def __init__(self) -> None:
        self._recent: Deque[float] = deque()
        self._ordered: List[float] = []

    def __bool__(self) -> bool:
        return bool(self._ordered)

    def add(self, duration: float) -> None:
        """Take one more; the oldest of too many is forgotten."""
        self._recent.append(duration)
        insort(self._ordered, duration)
        if len(self._recent) > _SAMPLES:
            self._ordered.remove(self._recent.popleft())

    def clear(self) -> None:
        """Forget all."""
        self._recent.clear()
        self._ordered.clear()

    def median(self, *, default: float) -> float:
        """Return the usual duration, `default` when there is none."""
        return self._ordered[len(self._ordered) // 2] if self._ordered else default

    def remaining(self, elapsed: float) -> float:
        """Return how much longer a duration is expected to last after `elapsed` seconds.

        The median of those that lasted longer. When none did, as long again as the longest has
        been exceeded by: who is late stays away ever longer.
        """
        ordered = self._ordered
        first = bisect_right(ordered, elapsed)
        if first == len(ordered):
            return elapsed - ordered[-1]
        return ordered[(first + len(ordered)) // 2] - elapsed


class Habit:
    """What follows an answer at one key: the next key (None: the episode ends), and the pauses.

    A single other turn, such as the last one of an episode, does not change the habit.
    """

    def __init__(self, next_key: Any) -> None:
        self.next_key = next_key
        self._misses = 0
        self.pauses = Window()

    def observe(self, key: Any, pause: float) -> None:
        """Learn what followed this time, and after how many seconds."""
        if key != self.next_key:
            self._misses += 1
            if self._misses < _MISSES_TO_CHANGE:
                return
            self.next_key = key
            self.pauses.clear()
        self._misses = 0
        self.pauses.add(pause)


class ServeTime:
    """What serving a batch takes: a fixed time and a time per row, by recent batches.

    One batch counts a sixteenth. A batch that takes far longer than expected, because something
    else stopped the process, counts as four times what was expected.
    """

    def __init__(self) -> None:
        self._rows = self._seconds = self._rows_squared = self._product = 0.0
        self._slope = 0.0
        self._count = 0

    def observe(self, rows: int, seconds: float) -> None:
        """Learn from one batch."""
        if self._count:
            fixed, per_row = self.estimate()
            seconds = min(seconds, 4 * (fixed + per_row * rows))
        self._count = min(self._count + 1, 16)
        share = 1 / self._count
        self._rows += (rows - self._rows) * share
        self._seconds += (seconds - self._seconds) * share
        self._rows_squared += (rows * rows - self._rows_squared) * share
        self._product += (rows * seconds - self._product) * share
        variance = self._rows_squared - self._rows * self._rows
        if variance > 0.05:  # nearly equal batches say nothing of the slope
            slope = (self._product - self._rows * self._seconds) / variance
            self._slope = min(max(slope, 0.0), self._seconds / self._rows)

    def estimate(self) -> Tuple[float, float]:
        """Return the fixed seconds and the seconds per row; (0, 0) before the first batch."""
        per_row = min(self._slope, self._seconds / self._rows) if self._count else 0.0
        return self._seconds - per_row * self._rows, per_row


class Wave:
    """The callers that one batch answered."""

    def __init__(self, size: int) -> None:
        self._away = size
        self._returned = 0
        self._first_at: Optional[float] = None

    def note_return(self, now: float) -> Optional[float]:
        """Count one caller in; return the mean time between two returns, with the last one."""
        if self._first_at is None:
            self._first_at = now
        self._away -= 1
        self._returned += 1
        if self._away or self._returned < 2:
            return None
        return (now - self._first_at) / (self._returned - 1)

    def note_end(self) -> None:
        """Count out a caller that does not come back in this episode."""
        self._away -= 1


class Itinerary:
    """One caller's way through the keys of a copy, in its open episode and by its habits."""

    def __init__(self) -> None:
        self._left: Any = None
        self._left_at = float("-inf")
        self._wave: Optional[Wave] = None
        self._habits: Dict[Any, Habit] = {}

    def start(self, now: float) -> None:
        """Note that an episode has ended or begins; its first call follows."""
        if self._left is not None:
            self._learn(None, now)
        if self._wave is not None:
            self._wave.note_end()
        self._left, self._left_at, self._wave = None, now, None

    def leave(self, key: Any, now: float, wave: Optional[Wave] = None) -> None:
        """Note that a call at `key` is answered, together with those of `wave`."""
        self._left, self._left_at, self._wave = key, now, wave

    def arrive(self, key: Any, now: float) -> Optional[float]:
        """Note a call at `key`; return the spacing of its wave if that is complete now."""
        if self._left_at > float("-inf"):
            self._learn(key, now)
            self._left_at = float("-inf")
        wave, self._wave = self._wave, None
        return None if wave is None else wave.note_return(now)

    def expect(self, now: float) -> Optional[Tuple[Any, float]]:
        """Return the next key and in how many seconds it is called; None if nothing is known."""
        habit = self._habits.get(self._left)
        if habit is None or self._left_at == float("-inf"):
            return None
        if habit.next_key is None:
            return None, float("inf")
        return habit.next_key, habit.pauses.remaining(now - self._left_at)

    def usual_next(self, key: Any) -> Tuple[Any, float]:
        """Return which key this caller usually calls after an answer at `key`, and how soon."""
        habit = self._habits.get(key)
        if habit is None or habit.next_key is None:
            return None, float("inf")
        return habit.next_key, habit.pauses.median(default=float("inf"))

    def _learn(self, key: Any, now: float) -> None:
        habit = self._habits.get(self._left)
        if habit is None:
            if len(self._habits) >= _MAX_HABITS:
                self._habits.clear()
            habit = self._habits[self._left] = Habit(key)
        habit.observe(key, now - self._left_at)
