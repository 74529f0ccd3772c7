"""Compare two runs metric by metric over the episodes in which both are defined.

Knows nothing of how a difference is estimated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nodeset.digest import hash64
from wayfare.evals.comparison_pair import Pair
from wayfare.evals.comparison_statistics import PairedDifference, compare_values
from wayfare.evals.tally import NOT_PRODUCED
from wayfare.store.records import EpisodeRecord, Metric

ERROR = "episode ended in error"
UNFINISHED = "episode not finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricComparison:
    """One metric's paired difference, and why pairs are not in it.

    `left_out` counts the pairs that are not; the reasons are each run's own, so that a pair may
    be counted in both.
    """

    difference: PairedDifference
    left_out: int
    reasons_a: Mapping[str, int]
    reasons_b: Mapping[str, int]


def compare_metrics(pairs: Sequence[Pair], seed: int) -> dict[str, MetricComparison]:
    """Return every metric that a pair has, by name; `seed` decides the bootstrap.

    Pairs of the same group, and the repeats of an episode, are one cluster.
    """
    labels = _label(pairs)
    names = sorted({name for pair in pairs for side in (pair.a, pair.b) for name in _names(side)})
    return {name: _compare(name, pairs, labels, seed) for name in names}


def _compare(
    name: str, pairs: Sequence[Pair], labels: Sequence[int], seed: int
) -> MetricComparison:
    a: list[Metric] = []
    b: list[Metric] = []
    kept: list[int] = []
    reasons: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for pair, label in zip(pairs, labels, strict=True):
        values = _value(pair.a, name), _value(pair.b, name)
        for value, counter in zip(values, reasons, strict=True):
            if isinstance(value, str):
                counter[value] += 1
        if not isinstance(values[0], str) and not isinstance(values[1], str):
            a.append(values[0])
            b.append(values[1])
            kept.append(label)
    random = np.random.default_rng(hash64(seed, "difference", name))
    return MetricComparison(
        difference=compare_values(a, b, kept, rng=random),
        left_out=len(pairs) - len(kept),
        reasons_a=dict(sorted(reasons[0].items())),
        reasons_b=dict(sorted(reasons[1].items())),
    )


def _value(record: EpisodeRecord | None, name: str) -> Metric | str:
    """Return the metric's value in an episode, or the reason why it has none."""
    if record is None:
        return UNFINISHED
    if record.outcome == "error":
        return ERROR
    if name in record.metrics:
        return record.metrics[name]
    return record.undefined.get(name, NOT_PRODUCED)


def _names(record: EpisodeRecord | None) -> set[str]:
    return set() if record is None else {*record.metrics, *record.undefined}


def _label(pairs: Sequence[Pair]) -> list[int]:
    """Return each pair's cluster: its group, else its episode with all its repeats."""
    numbers: dict[tuple[str, ...], int] = {}
    names = [
        ("group", pair.group) if pair.group else ("alone", pair.key_a.scene_id, pair.key_a.id)
        for pair in pairs
    ]
    return [numbers.setdefault(name, len(numbers)) for name in names]
