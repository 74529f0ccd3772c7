"""Put the episodes of two runs side by side, and say which of them went the same way.

Knows nothing of where they part or of what their metrics say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from wayfare.evals.digest import episode_digest, run_digest
from wayfare.store.records import EpisodeKey, EpisodeRecord, Firing, RunHeader
from wayfare.store.run import RunReader
from wayfare.store.truth import Committed, read_firings, read_latest

Place = tuple[str, str, int]
"""What tells an episode from the others of its run: scene, id, repeat."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs, as it stood when it was opened."""

    folder: Path
    header: RunHeader
    committed: Mapping[EpisodeKey, Committed]

    @classmethod
    def open(cls, reader: RunReader) -> Self:
        """Read the run's finished episodes; a run under way can be opened too."""
        keys = [planned.key for planned in reader.header.episodes]
        latest = {entry.record.key: entry for entry in read_latest(reader.folder, keys)}
        return cls(reader.folder, reader.header, latest)

    def record(self, key: EpisodeKey) -> EpisodeRecord | None:
        """Return a finished episode."""
        entry = self.committed.get(key)
        return entry.record if entry else None

    def firings(self, key: EpisodeKey) -> list[Firing]:
        """Return a finished episode's firings."""
        return read_firings(self.folder, self.committed[key])

    @property
    def digest(self) -> str:
        """The digest of the finished episodes (hex)."""
        return run_digest(entry.record for entry in self.committed.values()).hex()


@dataclass(frozen=True, slots=True)
class Pair:
    """An episode of both runs' lists; a record that is None: not finished there."""

    key_a: EpisodeKey
    key_b: EpisodeKey
    a: EpisodeRecord | None
    b: EpisodeRecord | None
    group: str = ""


@dataclass(frozen=True, slots=True)
class Pairing:
    """The episodes that both lists have, by key, and those that only one has."""

    pairs: tuple[Pair, ...]
    only_a: tuple[EpisodeKey, ...]
    only_b: tuple[EpisodeKey, ...]


def pair_episodes(a: Side, b: Side) -> Pairing:
    """Return the episodes of both, matched by scene, id and repeat.

    Within a run these tell all episodes apart, and two runs of one list have the same keys then.
    """
    planned = {_place(episode.key): episode for episode in a.header.episodes}
    others = {_place(episode.key): episode.key for episode in b.header.episodes}
    pairs = [
        Pair(
            key_a=episode.key,
            key_b=others[place],
            a=a.record(episode.key),
            b=b.record(others[place]),
            group=episode.group,
        )
        for place, episode in planned.items()
        if place in others
    ]
    return Pairing(
        pairs=tuple(sorted(pairs, key=lambda pair: pair.key_a.parts)),
        only_a=tuple(sorted(planned[place].key for place in planned.keys() - others.keys())),
        only_b=tuple(sorted(others[place] for place in others.keys() - planned.keys())),
    )


def is_equal(pair: Pair, side_b: Side) -> bool:
    """Return whether a pair that both runs finished went the same way, apart from its keys."""
    first, second = pair.a, pair.b
    if first is None or second is None:
        return False
    if pair.key_a == pair.key_b:
        return first.digest == second.digest
    under_same_key = episode_digest(
        pair.key_a,
        outcome=second.outcome,
        firings=side_b.firings(pair.key_b),
        metrics=second.metrics,
        undefined=second.undefined,
        error=second.error,
    )
    return first.digest == under_same_key.hex()


def _place(key: EpisodeKey) -> Place:
    return key.scene_id, key.id, key.repeat
