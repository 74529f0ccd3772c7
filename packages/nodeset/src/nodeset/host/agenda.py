"""Order what waits for the thread that runs author code: what has waited longest goes first.

Knows nothing of threads: its owner holds the lock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import Callable, Deque, Optional

from nodeset.batching import BatchedInferenceServer

Step = Callable[[], None]


@dataclass(frozen=True)
class Job:
    """One piece of work, and since when it has waited."""

    perform: Step
    arrived_at: float


class Agenda:
    """Jobs in the order of their arrival, between them the batches that are due."""

    def __init__(self, batching: BatchedInferenceServer, clock: Callable[[], float]) -> None:
        self._batching = batching
        self._clock = clock
        self._jobs: Deque[Job] = deque()

    def add(self, perform: Step) -> None:
        """Put work at the end."""
        self._jobs.append(Job(perform, self._clock()))

    def is_due(self, is_closing: bool = False) -> bool:
        """Say whether `take` would return a step now."""
        return bool(self._jobs) or self._batching.oldest_ready(is_closing) is not None

    def next_wakeup(self) -> Optional[float]:
        """Return when a step becomes due though nothing arrives; None if none does."""
        return self._batching.next_wakeup()

    def take(self, is_closing: bool = False) -> Optional[Step]:
        """Remove and return the step that is due and has waited longest."""
        batch_since = self._batching.oldest_ready(is_closing)
        if self._jobs and (batch_since is None or self._jobs[0].arrived_at <= batch_since):
            return self._jobs.popleft().perform
        if batch_since is None:
            return None
        flush = self._batching.take_flush(is_closing)
        return None if flush is None else partial(self._batching.serve, flush)
