"""Gather what a run's summary needs of each episode, in columns: a run may have many.

Knows nothing of files or of how a summary is shown.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from wayfare.evals.aggregate import Ints, Measured, Units, summarise_metric
from wayfare.evals.digest import digest_episodes
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
        self._retried = 0
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
        self._retried += len(record.attempts) > 1
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
            retried=self._retried,
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
        units = self._units(order)
        columns = {**{name: _Column() for name in declared}, **self._columns}
        return {
            name: self._summarise(name, column, seed, ranks=ranks, units=units)
            for name, column in sorted(columns.items())
        }

    def _column(self, name: str) -> _Column:
        return self._columns.setdefault(name, _Column())

    def _sorted_rows(self) -> list[int]:
        return sorted(range(len(self._keys)), key=lambda row: self._keys[row].parts)

    def _units(self, order: list[int]) -> Units:
        """Return each row's units, numbered in the order of keys."""
        episodes = _number_runs(order, self._keys)
        scenes = [key.scene_id for key in self._keys]
        groups = [self._groups.get(row) for row in range(len(order))]
        samples = _number(order, [group or episodes[row] for row, group in enumerate(groups)])
        clusters = {}
        if self._groups:
            clusters["group"] = samples
        if any(scenes):
            clusters["scene"] = _number(order, scenes)
        repeats = np.array([key.repeat for key in self._keys], np.int64)
        return Units(samples, np.array(episodes, np.int64), repeats, clusters)

    def _summarise(
        self, name: str, column: _Column, seed: int, *, ranks: Ints, units: Units
    ) -> MetricSummary:
        scored = self._outcomes["completed"] + self._outcomes["truncated"]
        reasons = Counter(column.undefined)
        reasons[NOT_PRODUCED] += scored - len(column.rows) - column.undefined.total()
        rows = np.array(column.rows, np.int64)
        by_key = np.argsort(ranks[rows])
        kind = np.bool_ if column.are_booleans else np.float64
        measured = Measured(
            name,
            np.array(column.values, kind)[by_key],
            dict(sorted((+reasons).items())),
            errors=self._outcomes["error"],
        )
        return summarise_metric(measured, units.at(rows[by_key]), seed)


def _number(order: list[int], units: Sequence[Hashable]) -> Ints:
    """Return each row's unit as a number, from 0 on in the order of keys."""
    numbers: dict[Hashable, int] = {}
    labels = np.empty(len(units), np.int64)
    for row in order:
        labels[row] = numbers.setdefault(units[row], len(numbers))
    return labels


def _number_runs(order: list[int], keys: Sequence[EpisodeKey]) -> array[int]:
    """Return each row's episode as a number; its repeats follow each other in the order of keys."""
    numbers = array("q", bytes(8 * len(order)))
    before, current = None, -1
    for row in order:
        episode = (keys[row].scene_id, keys[row].id)
        current += episode != before
        numbers[row], before = current, episode
    return numbers
