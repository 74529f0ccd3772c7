"""Count what a run has done so far: outcomes, the headline metric, speed, time left.

Knows nothing of how it is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from wayfare.store.records import EpisodeKey, EpisodeRecord, ErrorRecord, Outcome, RunHeader

Clock = Callable[[], float]

HEADLINE = "success"
"""The metric that is shown while a run goes on, where it is measured."""


@dataclass(slots=True)
class Lane:
    """What one worker does now; `key` is None between episodes."""

    worker: int
    key: EpisodeKey | None = None
    attempt: int = 1
    started_seconds: float = 0.0
    finished: int = 0


class Progress:
    """Follows one run; the methods are those of `evals.observer.Observer`, and what they come to.

    `clock` returns seconds, such as `time.monotonic`.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began_seconds = clock()
        self._value_sum = 0.0
        self._value_count = 0
        self._metrics: Sequence[str] = ()
        self.graph_name = ""
        self.total = 0
        self.lanes: list[Lane] = []
        self.outcomes: Counter[Outcome] = Counter()
        self.kept = 0
        """Episodes that had finished before the run was resumed."""
        self.repeated = 0
        self.headline = ""

    def run_started(
        self, header: RunHeader, metrics: Sequence[str], kept: Iterable[EpisodeRecord] = ()
    ) -> None:
        """Take the run's size; the headline is `success`, else the first metric that comes."""
        self._began_seconds = self._clock()
        self._metrics = [HEADLINE, *(name for name in metrics if name != HEADLINE)]
        self.graph_name = header.graph_name
        self.total = len(header.episodes)
        self.lanes = [Lane(worker) for worker in range(header.worker_count)]
        for record in kept:
            self._count(record)
        self.kept = self.finished

    def episode_started(self, worker: int, key: EpisodeKey, attempt: int) -> None:
        """Put the episode on the worker's lane."""
        lane = self.lanes[worker]
        lane.key, lane.attempt, lane.started_seconds = key, attempt, self._clock()

    def attempt_failed(self, worker: int, key: EpisodeKey, error: ErrorRecord) -> None:  # noqa: ARG002 - the observer's signature
        """Count an attempt that will be repeated."""
        self.repeated += 1
        self.lanes[worker].key = None

    def episode_finished(self, record: EpisodeRecord) -> None:
        """Count the episode and clear its worker's lane."""
        self._count(record)
        lane = self.lanes[record.worker]
        if lane.key == record.key:  # else the worker has begun its next one meanwhile
            lane.key = None
        lane.finished += 1

    def _count(self, record: EpisodeRecord) -> None:
        self.outcomes[record.outcome] += 1
        if not self.headline:
            self.headline = next((name for name in self._metrics if name in record.metrics), "")
        value = record.metrics.get(self.headline)
        if value is not None:
            self._value_sum += value
            self._value_count += 1

    @property
    def finished(self) -> int:
        """Episodes that ended, with those that were kept when the run was resumed."""
        return self.outcomes.total()

    @property
    def mean(self) -> float | None:
        """The headline's mean so far, over the episodes that have it."""
        return self._value_sum / self._value_count if self._value_count else None

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._began_seconds

    @property
    def episodes_per_second(self) -> float:
        """Finished episodes per second, since the run began or was resumed."""
        ended = self.finished - self.kept
        return ended / self.elapsed_seconds if self.elapsed_seconds > 0 else 0.0

    @property
    def left_seconds(self) -> float | None:
        """Seconds until the end at the speed so far; None before the first episode ended."""
        speed = self.episodes_per_second
        return (self.total - self.finished) / speed if speed else None

    def lane_seconds(self, lane: Lane) -> float:
        """Seconds since the lane's attempt began."""
        return self._clock() - lane.started_seconds
