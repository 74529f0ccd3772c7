"""Gather what a run's summary needs of each episode, in columns: a run may have many.

Knows nothing of files or of how a summary is shown.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from nodeset.digest import hash64
from wayfare.evals.digest import digest_episodes
from wayfare.evals.statistics import estimate
from wayfare.store.records import EpisodeKey, EpisodeRecord, Metric, Outcome
from wayfare.store.summary import EpisodeCounts, MetricSummary

NOT_PRODUCED = "not produced"
"""The reason of a metric that an episode of the run says nothing of."""


@dataclass(slots=True)
class _Column:
    """One metric: its values, in which rows they stand, why the others have none."""

    rows: array[int] = field(default_factory=lambda: array("q"))
    values: array[float] = field(default_factory=lambda: array("d"))
    are_booleans: bool = True
    undefined: Counter[str] = field(default_factory=Counter)

    def add(self, row: int, value: Metric) -> None:
        self.rows.append(row)
        self.values.append(value)
        self.are_booleans = self.are_booleans and isinstance(value, bool)


class Tally:
    """Finished episodes in columns; what it comes to does not depend on their order."""

    def __init__(self) -> None:
        self._outcomes: Counter[Outcome] = Counter()
        self._attempts = 0
        self._keys: list[EpisodeKey] = []
        self._digests: list[bytes] = []
        self._groups: dict[int, str] = {}
        self._names: dict[str, str] = {}
        self._columns: dict[str, _Column] = {}

    @classmethod
    def of(cls, records: Iterable[EpisodeRecord]) -> Tally:
        """Return the tally of these episodes; the records themselves are not kept."""
        tally = cls()
        for record in records:
            tally.add(record)
        return tally

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, record: EpisodeRecord) -> None:
        """Count one more finished episode."""
        row = len(self._keys)
        self._keys.append(record.key)
        self._digests.append(bytes.fromhex(record.digest))
        self._outcomes[record.outcome] += 1
        self._attempts += len(record.attempts)
        if record.group:
            self._groups[row] = self._names.setdefault(record.group, record.group)
        if record.outcome == "error":
            return
        for name, value in record.metrics.items():
            self._column(name).add(row, value)
        for name, reason in record.undefined.items():
            self._column(name).undefined[reason] += 1

    def counts(self, total: int) -> EpisodeCounts:
        """Return how the episodes of a run that has `total` ended and how many tries it took."""
        return EpisodeCounts(
            total=total,
            completed=self._outcomes["completed"],
            truncated=self._outcomes["truncated"],
            error=self._outcomes["error"],
            attempts=self._attempts,
        )

    def digest(self) -> bytes:
        """Return the run's digest (16 bytes): key and digest of every episode, sorted by key."""
        rows = self._sorted_rows()
        return digest_episodes(
            len(self), ((self._keys[row], self._digests[row].hex()) for row in rows)
        )

    def metrics(self, seed: int, *, declared: Iterable[str] = ()) -> dict[str, MetricSummary]:
        """Return every metric's summary, by name, over the episodes that did not end in `error`.

        One that is `declared` has a summary even if no episode says anything of it.

        Each metric's interval has random numbers of its own, made from the run's seed and its
        name, so that it does not depend on what else is measured.
        """
        order = self._sorted_rows()
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        clusters = self._clusters(order)
        columns = {**{name: _Column() for name in declared}, **self._columns}
        return {
            name: self._summarise(name, column, seed, ranks=ranks, clusters=clusters)
            for name, column in sorted(columns.items())
        }

    def _column(self, name: str) -> _Column:
        return self._columns.setdefault(name, _Column())

    def _sorted_rows(self) -> list[int]:
        return sorted(range(len(self._keys)), key=lambda row: self._keys[row].parts)

    def _clusters(self, order: list[int]) -> array[int]:
        """Return each row's cluster: its group, else itself with all its repeats."""
        clusters = array("q", bytes(8 * len(order)))
        numbers: dict[str, int] = {}
        before: EpisodeKey | None = None
        current = count = 0
        for row in order:
            key, group = self._keys[row], self._groups.get(row)
            if group is not None:
                clusters[row] = numbers.setdefault(group, count)
                count += clusters[row] == count
            else:
                if before is None or (key.scene_id, key.id) != (before.scene_id, before.id):
                    current, count = count, count + 1
                clusters[row] = current
                before = key
        return clusters

    def _summarise(
        self,
        name: str,
        column: _Column,
        seed: int,
        *,
        ranks: np.ndarray[tuple[int], np.dtype[np.int64]],
        clusters: array[int],
    ) -> MetricSummary:
        scored = self._outcomes["completed"] + self._outcomes["truncated"]
        reasons = Counter(column.undefined)
        reasons[NOT_PRODUCED] += scored - len(column.rows) - column.undefined.total()
        rows = np.array(column.rows, np.int64)
        by_key = np.argsort(ranks[rows])
        values = np.array(column.values, np.bool_ if column.are_booleans else np.float64)[by_key]
        labels = np.array(clusters, np.int64)[rows[by_key]]
        random = np.random.default_rng(hash64(seed, "interval", name))
        found = estimate(values.tolist(), labels.tolist(), random)
        return MetricSummary(
            n=found.n,
            mean=found.mean,
            ci_low=found.ci_low,
            ci_high=found.ci_high,
            undefined=dict(sorted((+reasons).items())),
        )
