"""Sum a run's episodes up apart: by scene, group, split, repeat, outcome or a label of theirs.

Knows nothing of how the parts are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from wayfare.evals.errors import SetupError
from wayfare.evals.tally import Tally
from wayfare.graph.fault import suggest
from wayfare.store.labels import Label, read_labels
from wayfare.store.records import EpisodeRecord, RunHeader
from wayfare.store.summary import EpisodeCounts, MetricSummary

BUILT_IN_KEYS = ("scene", "group", "split", "repeat", "outcome")
UNLABELLED = ""
"""The label of episodes that have none by this key."""


class UnknownKeyError(SetupError):
    """A run's episodes have no label by this key."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some of a run's episodes: how they ended and what they measured."""

    episodes: EpisodeCounts
    metrics: Mapping[str, MetricSummary]


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A run's episodes by the value of one key, in the order of these values."""

    key: str
    parts: Mapping[str, Part]


def break_down_run(
    folder: Path, header: RunHeader, records: Iterable[EpisodeRecord], *, key: str
) -> Breakdown:
    """Return the finished episodes of the run in `folder` by `key`, as `break_down` does.

    Its labels are read only for a key of theirs. Raises CorruptFileError, UnknownKeyError.
    """
    labels: Mapping[str, list[Label]] = {}
    if key not in BUILT_IN_KEYS:
        labels = read_labels(folder, len(header.episodes))
    return break_down(header, records, key, labels=labels)


def break_down(
    header: RunHeader,
    records: Iterable[EpisodeRecord],
    key: str,
    *,
    labels: Mapping[str, list[Label]],
) -> Breakdown:
    """Return the run's finished episodes by `key`: one of BUILT_IN_KEYS, or of `labels`.

    `labels` has a column per key of the episodes' `info` whose values can tell them apart, in the
    order of the run's list. Raises UnknownKeyError.
    """
    if key not in (*BUILT_IN_KEYS, *labels):
        raise UnknownKeyError(
            f"--by {key!r}: the episodes of run {header.run_id} have no such label. "
            f"{suggest(key, [*BUILT_IN_KEYS, *labels])}"
        )
    positions = {planned.key: n for n, planned in enumerate(header.episodes)}
    tallies: dict[tuple[int, Label, str], Tally] = {}
    for record in records:
        label = _built_in(record, key)
        if label is None:
            label = labels[key][positions[record.key]]
        tallies.setdefault(_as_rank(label), Tally()).add(record)
    return Breakdown(
        key,
        {
            rank[-1]: Part(tally.counts(len(tally)), tally.metrics(header.seed))
            for rank, tally in sorted(tallies.items(), key=lambda entry: entry[0])
        },
    )


def _built_in(record: EpisodeRecord, key: str) -> Label:
    match key:
        case "scene":
            return record.scene_id
        case "group":
            return record.group
        case "split":
            return record.key.split
        case "repeat":
            return record.key.repeat
        case "outcome":
            return record.outcome
    return None


def _as_rank(label: Label) -> tuple[int, Label, str]:
    """Return what labels are ordered by, numbers before texts, and how they are written."""
    if label is None:
        return 2, "", UNLABELLED
    if isinstance(label, bool):
        return 1, str(label).lower(), str(label).lower()
    return (0, label, str(label)) if isinstance(label, int) else (1, label, label)
