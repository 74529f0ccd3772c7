"""Say what of a run's files is damaged, whom that concerns, and what still holds.

Knows nothing of how damage is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from wayfare.cli.live import describe_count
from wayfare.cli.output import Text
from wayfare.evals.damage import Damage
from wayfare.store.summary import RunSummary

MAX_NAMED = 5
"""So many of the episodes that a damage concerns are named."""


def render_damage(found: Sequence[Damage], summary: RunSummary) -> Iterator[RenderableType]:
    """Yield the lines that end `wayfare show` for a run some of whose files are damaged."""
    for damage in found:
        yield Text()
        yield Text(f"damaged: {damage.problem}")
        yield Text(f"  lost: {damage.lost}{_name(damage.episodes, summary.episodes.total)}")
    is_proven = summary.coverage is not None and not summary.coverage.problems
    if found and is_proven and summary.episodes.finished:
        count = describe_count(summary.episodes.finished, "episode")
        yield Text(
            f"what holds: outcomes, metrics and digests of {count}; they stand in the records, "
            f"which are whole"
        )


def _name(keys: Sequence[str], total: int) -> str:
    if not keys:
        return ""
    if len(keys) == total:
        return f", of {'all ' if total > 1 else ''}{describe_count(total, 'episode')}"
    shown = ", ".join(keys[:MAX_NAMED])
    more = f" and {len(keys) - MAX_NAMED} more, which --json lists" if keys[MAX_NAMED:] else ""
    return f", of {len(keys)} of {describe_count(total, 'episode')}: {shown}{more}"
