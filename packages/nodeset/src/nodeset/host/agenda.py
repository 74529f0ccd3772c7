"""Order what waits for the thread that runs author code: what has waited longest goes first.

Knows nothing of threads: its owner holds the lock.
"""

from __future__ import annotations

import math
from collections import deque
from functools import partial
from typing import Callable, Deque, Optional, Tuple

from nodeset.batching import BatchedInferenceServer

Step = Callable[[], None]


class Agenda:
    """Jobs in the order of their arrival, between them the batches that are due."""

    def __init__(self, batching: BatchedInferenceServer, clock: Callable[[], float]) -> None:
        self._batching = batching
        self._clock = clock
        self._jobs: Deque[Tuple[float, Step]] = deque()
        """Each with the moment since which it has waited."""

    def add(self, perform: Step) -> None:
        """Put work at the end."""
        self._jobs.append((self._clock(), perform))

    def is_due(self) -> bool:
        """Say whether `take` would return a step now."""
        return bool(self._jobs) or self._batching.is_due()

    def next_wakeup(self) -> Optional[float]:
        """Return when a step becomes due though nothing arrives; None if none does."""
        return self._batching.next_wakeup()

    def take(self, is_closing: bool = False) -> Optional[Step]:
        """Remove and return the step that is due and has waited longest."""
        before = self._jobs[0][0] if self._jobs else math.inf
        flush = self._batching.take_flush(is_closing=is_closing, before=before)
        if flush is not None:
            return partial(self._batching.serve, flush)
        return self._jobs.popleft()[1] if self._jobs else None
