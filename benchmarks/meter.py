"""Note what the main process has used at every tenth of a run.

Knows nothing of how the run goes.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wayfare.evals.surroundings import Silence
from wayfare.store.records import EpisodeRecord, RunHeader

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Reading:
    """After so many episodes: seconds, the main process's CPU seconds and its memory."""

    episodes: int
    seconds: float
    cpu_seconds: float
    resident_bytes: int


class Meter(Silence):
    """An observer that takes a reading at the beginning and after every tenth."""

    def __init__(self) -> None:
        self.readings: list[Reading] = []
        self._finished = 0
        self._every = 1

    def run_started(
        self, header: RunHeader, metrics: Sequence[str], kept: Iterable[EpisodeRecord]
    ) -> None:
        self._every = max(1, len(header.episodes) // 10)
        self._read()

    def episode_finished(self, record: EpisodeRecord) -> None:
        self._finished += 1
        if self._finished % self._every == 0:
            self._read()

    @property
    def cpu_seconds_by_tenth(self) -> list[float]:
        """The main process's CPU seconds per episode, tenth by tenth."""
        return self._per_episode([reading.cpu_seconds for reading in self.readings])

    @property
    def seconds_by_tenth(self) -> list[float]:
        """Wall seconds per episode, tenth by tenth."""
        return self._per_episode([reading.seconds for reading in self.readings])

    @property
    def growth_bytes(self) -> float:
        """Bytes per episode by which the main process grew after the first tenth."""
        first, last = self.readings[1], self.readings[-1]
        grown = last.resident_bytes - first.resident_bytes
        return grown / max(1, last.episodes - first.episodes)

    def _per_episode(self, sums: Sequence[float]) -> list[float]:
        return [(after - before) / self._every for before, after in itertools.pairwise(sums)]

    def _read(self) -> None:
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES
        now = time.perf_counter()
        self.readings.append(Reading(self._finished, now, time.process_time(), resident))
