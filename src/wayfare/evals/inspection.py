"""Look a run on disk through: what it comes to, what its files hold, what of them is damaged.

Knows nothing of how that is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wayfare.evals.damage import find_damage
from wayfare.evals.damage_finding import Damage
from wayfare.evals.report import summarise_run, summarise_salvage
from wayfare.store.records import EpisodeRecord
from wayfare.store.run import RunReader
from wayfare.store.summary import RunSummary
from wayfare.store.truth import salvage_truth


@dataclass(frozen=True, slots=True)
class Inspection:
    """A run's summary, its finished episodes as far as they can be read, and what is damaged."""

    summary: RunSummary
    records: Sequence[EpisodeRecord]
    damage: Sequence[Damage]


def inspect_run(reader: RunReader, *, is_thorough: bool = False) -> Inspection:
    """Return what can be told of a run, however its records are.

    Of recorded calls and videos all that they hold is read if `is_thorough`.
    """
    found = salvage_truth(reader.folder, [planned.key for planned in reader.header.episodes])
    summary = summarise_salvage(reader, found) if found.problems else summarise_run(reader)
    records = [entry.record for entry in found.latest]
    return Inspection(summary, records, find_damage(reader, found, is_thorough=is_thorough))
