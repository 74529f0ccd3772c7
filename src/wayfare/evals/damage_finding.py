"""Say of one file of a run what is wrong with it, what is lost and of which episodes.

Knows nothing of how that is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wayfare.evals.damage_surplus import Surplus, merge_spans
from wayfare.store.truth import Committed

MAX_SPANS = 5
"""So many places of a file are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A file, or folder, of a run that is damaged or missing, wholly or in part.

    `episodes` are the keys of those that it concerns, in the order of the run's list, none where it
    is the run as such; `lost` is what they had there, "" where nothing is lost. But for the file of
    records itself, outcomes, metrics and digests stand in the records.
    """

    file: str
    problem: str
    lost: str
    episodes: tuple[str, ...] = ()


def describe_damage(
    path: Path, problem: str, *, lost: str, concerned: Sequence[Committed]
) -> Damage:
    """Return the damage of a file that concerns the episodes with these records."""
    keys = tuple(entry.record.key.text for entry in concerned)
    return Damage(file=path.name, problem=problem, lost=lost, episodes=keys)


def describe_surplus(path: Path, surplus: Surplus) -> str:
    """Say which bytes of a file stand there once more than they were written, and the remedy."""
    spans = surplus.spans
    ranges = [f"{span.start} to {span.end}" for span in merge_spans(spans)]
    named = ", ".join(ranges[:MAX_SPANS])
    more = f" and {len(ranges) - MAX_SPANS} more such ranges" if ranges[MAX_SPANS:] else ""
    count = f"{len(spans)} records stand" if len(spans) > 1 else "a record stands"
    effect = "what follows is not where it is looked for"
    remedy = (
        f"Keep a copy of the file; without its bytes {named}{more} (each end not among them) it is "
        f"as it was written."
    )
    if not surplus.is_shifted:
        effect = "no result depends on it"
    if surplus.must_stay:
        remedy = (
            f"Leave its bytes {named}{more} where they are: what the run wrote after them is not "
            f"found without them."
        )
    return (
        f"{path}: byte {spans[0].start}: {count} there that the run did not write, as when bytes "
        f"are copied into a file or two folders are merged; {effect}. {remedy}"
    )
