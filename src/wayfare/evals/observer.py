"""What a run tells whoever watches it.

Knows nothing of how it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from wayfare.store.records import EpisodeKey, EpisodeRecord, ErrorRecord, RunHeader


class Observer(Protocol):
    """Follows one run; called on the event loop, so each method must return at once."""

    def run_started(
        self, header: RunHeader, metrics: Sequence[str], kept: Iterable[EpisodeRecord]
    ) -> None:
        """Episodes are about to begin; `metrics` are the environment's, the headline first.

        `kept` are the episodes that had finished before a run was resumed, read as they are taken.
        """

    def episode_started(self, worker: int, key: EpisodeKey, attempt: int) -> None:
        """A worker began an attempt."""

    def attempt_failed(self, worker: int, key: EpisodeKey, error: ErrorRecord) -> None:
        """An attempt ended by a fault of infrastructure and will be repeated."""

    def episode_finished(self, record: EpisodeRecord) -> None:
        """An episode is on disk."""
