"""Sum one metric up over episodes that are not independent: by group, by scene, over repeats.

Knows nothing of files; which unit an episode belongs to comes in as numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from nodeset.digest import hash64
from wayfare.evals.repeats import summarise_repeats
from wayfare.evals.statistics import (
    Clusters,
    bootstrap_interval,
    estimate,
    gather_clusters,
)
from wayfare.store.summary import ClusterSummary, MetricSummary

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Units:
    """The unit of each value: numbers, equal for values of the same unit.

    `samples` are what counts as drawn independently: a group, else an episode with its repeats.
    `clusters` are further ones by kind: `group`, `scene`.
    """

    samples: Ints
    episodes: Ints
    repeats: Ints
    clusters: Mapping[str, Ints]

    def at(self, rows: Ints) -> Units:
        """Return the units of some of the values, in that order."""
        clusters = {kind: labels[rows] for kind, labels in self.clusters.items()}
        return Units(self.samples[rows], self.episodes[rows], self.repeats[rows], clusters)


@dataclass(frozen=True, slots=True)
class Measured:
    """A metric's values, booleans or numbers, in the order of keys, and what has none."""

    name: str
    values: npt.NDArray[np.bool_] | npt.NDArray[np.float64]
    undefined: Mapping[str, int]
    errors: int

    @property
    def are_booleans(self) -> bool:
        """Whether each value is a BOOL."""
        return self.values.dtype == np.bool_

    @property
    def interval(self) -> Literal["wilson", "bootstrap"]:
        """The kind of interval that `estimate` gives such values."""
        return "wilson" if self.are_booleans else "bootstrap"


def summarise_metric(measured: Measured, units: Units, seed: int) -> MetricSummary:
    """Return the metric's summary; its intervals have random numbers of their own.

    These come from the run's seed and the metric's name, so that an interval does not depend on
    what else is measured.
    """
    values = measured.values.tolist()
    found = estimate(values, units.samples.tolist(), _random(seed, measured.name))
    return MetricSummary(
        n=found.n,
        mean=found.mean,
        ci_low=found.ci_low,
        ci_high=found.ci_high,
        undefined=dict(measured.undefined),
        interval=measured.interval if found.ci_low is not None else None,
        errors_as_failures=_count_errors(measured),
        clusters={
            kind: _summarise_clusters(measured, labels, seed, kind=kind)
            for kind, labels in units.clusters.items()
            if values
        },
        repeats=summarise_repeats(
            measured.values.astype(np.float64), units.episodes, units.repeats
        ),
    )


def _count_errors(measured: Measured) -> float | None:
    n = len(measured.values)
    if not (measured.errors and measured.are_booleans and n):
        return None
    return math.fsum(measured.values.tolist()) / (n + measured.errors)


def _summarise_clusters(
    measured: Measured, labels: Ints, seed: int, *, kind: str
) -> ClusterSummary:
    values = measured.values.tolist()
    found = estimate(values, labels.tolist(), _random(seed, measured.name, kind))
    clusters = gather_clusters(values, labels.tolist())
    means = clusters.sums / clusters.sizes
    low, high = None, None
    if clusters.count > 1:
        alike = Clusters(means, np.ones_like(means))
        low, high = bootstrap_interval(alike, _random(seed, measured.name, kind, "macro"))
    return ClusterSummary(
        count=clusters.count,
        macro_mean=math.fsum(means.tolist()) / clusters.count,
        macro_ci_low=low,
        macro_ci_high=high,
        ci_low=found.ci_low if clusters.count > 1 else None,
        ci_high=found.ci_high if clusters.count > 1 else None,
    )


def _random(seed: int, *what: str) -> np.random.Generator:
    return np.random.default_rng(hash64(seed, "interval", *what))
