"""Say what of a run's files is damaged, whom that concerns, and what still holds.

Knows nothing of how damage is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from wayfare.cli.live import describe_count
from wayfare.cli.output import Text
from wayfare.evals.damage_finding import Damage
from wayfare.store.summary import Coverage, RunSummary
from wayfare.store.truth import EPISODES_FILE

MAX_NAMED = 5
"""So many of the episodes that a damage concerns are named."""


def render_damage(
    found: Sequence[Damage], summary: RunSummary, *, lost_key: str | None = None
) -> Iterator[RenderableType]:
    """Yield the lines that end `wayfare show` for a run some of whose files are damaged.

    `lost_key` is the one that `--by` asked for, where nobody can tell episodes apart by it.
    """
    for damage in found:
        yield Text()
        yield Text(f"damaged: {damage.problem}")
        concerned = _name(damage.episodes, summary.episodes.total)
        yield Text(f"  lost: {damage.lost or 'nothing'}{concerned}")
    if lost_key is not None:
        yield Text(f"--by {lost_key} can't be had without these labels: all episodes are listed.")
    coverage = summary.coverage
    if not found or coverage is None:
        return
    if any(damage.file == EPISODES_FILE for damage in found):
        yield Text(f"what is shown: {_describe_rest(summary, coverage)}")
    elif not coverage.problems and summary.episodes.finished:
        count = describe_count(summary.episodes.finished, "episode")
        yield Text(
            f"what holds: outcomes, metrics and digests of {count}; they stand in the records, "
            f"which are whole"
        )


def _describe_rest(summary: RunSummary, coverage: Coverage) -> str:
    """Return what is shown of a run whose records are damaged, and where it comes from."""
    listed = f"{describe_count(coverage.recorded, 'episode')} whose records can be read"
    if summary.episodes.finished > coverage.recorded:
        return f"{listed}; counts, metrics and digest are those that summary.json kept at its end"
    return f"{listed}; counts, metrics and digest are theirs"


def _name(keys: Sequence[str], total: int) -> str:
    if not keys:
        return ""
    if len(keys) == total:
        return f", of {'all ' if total > 1 else ''}{describe_count(total, 'episode')}"
    shown = ", ".join(keys[:MAX_NAMED])
    more = f" and {len(keys) - MAX_NAMED} more, which --json lists" if keys[MAX_NAMED:] else ""
    return f", of {len(keys)} of {describe_count(total, 'episode')}: {shown}{more}"
