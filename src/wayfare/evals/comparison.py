"""Compare two runs: what they were told, where their episodes part, how far their metrics differ.

Knows nothing of screens. Nothing is left out without being counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wayfare.evals.comparison_divergence import Divergence, find_divergence
from wayfare.evals.comparison_header import (
    Difference,
    find_agent_differences,
    find_term_differences,
    graph_of,
)
from wayfare.evals.comparison_order import FiringOrder
from wayfare.evals.comparison_pair import Pair, Pairing, Side, is_equal, pair_episodes
from wayfare.evals.comparison_recording import add_values
from wayfare.evals.comparison_table import MetricComparison, compare_metrics
from wayfare.evals.errors import SetupError
from wayfare.store.records import RunHeader
from wayfare.store.run import RunReader

MAX_WITH_VALUES = 20
"""Of more episodes than these the recorded values are not looked up: it takes time."""


class ComparisonRefusedError(SetupError):
    """Two runs are no comparison of like with like, and nobody said that it is wanted anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """One of the two runs; `digest` is that of its finished episodes."""

    run_id: str
    out: str
    graph: str
    worker_count: int
    total: int
    finished: int
    error: int
    digest: str
    unclaimed: tuple[str, ...]
    """The tools that forbid the claim that the number of workers changes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeComparison:
    """How many episodes of the lists are paired, and what became of the pairs.

    `different` includes those that only one run has finished; `unfinished` is what neither has.
    """

    pairs: int
    equal: int
    different: int
    unfinished: int
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs side by side.

    `agent` are the differences of what they were told, `terms` those of episodes and metrics,
    which are compared only if that is wanted anyway. `first_divergence` is the first by key.
    """

    equal: bool
    a: ComparedRun
    b: ComparedRun
    same_agent: bool
    agent: tuple[Difference, ...]
    terms: tuple[Difference, ...]
    episodes: EpisodeComparison
    first_divergence: Divergence | None
    divergences: tuple[Divergence, ...]
    metrics: Mapping[str, MetricComparison]


def compare_runs(a: RunReader, b: RunReader, *, anyway: bool = False) -> Comparison:
    """Return the comparison of two runs.

    Raises ComparisonRefusedError for runs of different lists of episodes or metrics, unless
    `anyway`, and for runs that have no episode in common; GraphError and StoreError.
    """
    terms = find_term_differences(a.header, b.header)
    if terms and not anyway:
        raise ComparisonRefusedError(_refusal(a.header, b.header, terms))
    sides = Side.open(a), Side.open(b)
    pairing = pair_episodes(*sides)
    _check_overlap(pairing)
    equal = [pair for pair in pairing.pairs if is_equal(pair, sides[1])]
    divergences = tuple(_find_divergences(pairing.pairs, equal, sides))
    agent = tuple(find_agent_differences(a.header, b.header))
    runs = _describe(sides[0]), _describe(sides[1])
    return Comparison(
        equal=runs[0].digest == runs[1].digest,
        a=runs[0],
        b=runs[1],
        same_agent=not agent,
        agent=agent,
        terms=tuple(terms),
        episodes=_count(pairing, len(equal)),
        first_divergence=divergences[0] if divergences else None,
        divergences=divergences,
        metrics=compare_metrics(pairing.pairs, a.header.seed),
    )


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Return what `wayfare compare --json` prints."""
    metrics = {
        name: {
            **asdict(metric.difference),
            "left_out": metric.left_out,
            "reasons_a": metric.reasons_a,
            "reasons_b": metric.reasons_b,
        }
        for name, metric in comparison.metrics.items()
    }
    return {**asdict(comparison), "metrics": metrics}


def _find_divergences(
    pairs: Sequence[Pair], equal: Sequence[Pair], sides: tuple[Side, Side]
) -> Iterator[Divergence]:
    order = FiringOrder(graph_of(side.header) for side in sides)
    same = {pair.key_a for pair in equal}
    count = 0
    for pair in pairs:
        if pair.key_a in same or (pair.a is None and pair.b is None):
            continue
        firings = (
            sides[0].firings(pair.key_a) if pair.a and pair.b else (),
            sides[1].firings(pair.key_b) if pair.a and pair.b else (),
        )
        found = find_divergence(pair, *firings, order=order)
        count += found.has_firing
        yield (
            add_values(found, pair, sides=sides, order=order) if count <= MAX_WITH_VALUES else found
        )


def _count(pairing: Pairing, equal: int) -> EpisodeComparison:
    unfinished = sum(pair.a is None and pair.b is None for pair in pairing.pairs)
    return EpisodeComparison(
        pairs=len(pairing.pairs),
        equal=equal,
        different=len(pairing.pairs) - equal - unfinished,
        unfinished=unfinished,
        only_a=tuple(key.text for key in pairing.only_a),
        only_b=tuple(key.text for key in pairing.only_b),
    )


def _describe(side: Side) -> ComparedRun:
    header = side.header
    records = [entry.record for entry in side.committed.values()]
    return ComparedRun(
        run_id=header.run_id,
        out=str(side.folder),
        graph=header.graph_name,
        worker_count=header.worker_count,
        total=len(header.episodes),
        finished=len(records),
        error=sum(record.outcome == "error" for record in records),
        digest=side.digest,
        unclaimed=tuple(sorted(t for t, claim in header.claims.items() if claim == "not claimed")),
    )


def _check_overlap(pairing: Pairing) -> None:
    if any(pair.a is not None and pair.b is not None for pair in pairing.pairs):
        return
    raise ComparisonRefusedError(
        f"the runs have {len(pairing.pairs)} episodes in common and none of them is finished in "
        f"both; nothing can be compared. `wayfare runs` lists the runs with what they finished."
    )


def _refusal(a: RunHeader, b: RunHeader, terms: Sequence[Difference]) -> str:
    lines = "\n".join(f"  {difference}" for difference in terms)
    return (
        f"runs {a.run_id} and {b.run_id} differ in their episodes or in what their metrics mean:\n"
        f"{lines}\n"
        f"--anyway compares the episodes and metrics that both have."
    )
