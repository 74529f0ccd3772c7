"""Digest episodes and runs, so that two of them can be compared by 16 bytes.

Knows nothing of how a firing's digest came about; worker, time, attempts, logs and the texts of
errors never enter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nodeset.digest import digest_items, digest_value
from wayfare.store.firings import columns
from wayfare.store.records import (
    EpisodeKey,
    EpisodeRecord,
    ErrorRecord,
    Firing,
    Metric,
    Outcome,
)


def episode_digest(
    key: EpisodeKey,
    *,
    outcome: Outcome,
    firings: Iterable[Firing] = (),
    metrics: Mapping[str, Metric] | None = None,
    undefined: Mapping[str, str] | None = None,
    error: ErrorRecord | None = None,
) -> bytes:
    """Return the digest (16 bytes) of an episode's final attempt.

    It covers the key, the outcome, the firings by turns and path, and the metrics with the
    reasons of those that are undefined. An `error` episode has the key and the place and type of
    its first failure in document order instead: what else had fired by then is a matter of time.
    """
    if error is not None:
        failure = [error.node, list(error.turns), error.type]
        return digest_value(["error", list(key.parts), failure])
    results = [columns(firings), dict(metrics or {}), dict(undefined or {})]
    return digest_value([outcome, list(key.parts), *results])


def is_proven(record: EpisodeRecord, firings: Mapping[str, Any]) -> bool:
    """Return whether an episode's firings, as columns, are those that its record was made of.

    The record of an `error` episode was made of none.
    """
    if record.error is not None:
        return True
    results = [dict(firings), dict(record.metrics), dict(record.undefined)]
    digest = digest_value([record.outcome, list(record.key.parts), *results])
    return digest.hex() == record.digest


def run_digest(records: Iterable[EpisodeRecord]) -> bytes:
    """Return the digest (16 bytes) of a run's finished episodes, sorted by key."""
    ordered = sorted(((record.key, record.digest) for record in records), key=_parts_of)
    return digest_episodes(len(ordered), ordered)


def digest_episodes(count: int, episodes: Iterable[tuple[EpisodeKey, str]]) -> bytes:
    """Return the digest (16 bytes) of so many episodes: key and digest of each, sorted by key."""
    return digest_items(count, ([list(key.parts), digest] for key, digest in episodes))


def _parts_of(episode: tuple[EpisodeKey, str]) -> tuple[str, str, str, str, str, int]:
    return episode[0].parts
