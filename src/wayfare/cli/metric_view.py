"""Draw metrics: means with their intervals, over groups and scenes, over repeats, by a label.

Knows nothing of how the numbers were made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from rich.console import RenderableType
from rich.table import Table

from wayfare.cli.live import describe_count
from wayfare.cli.output import Text
from wayfare.evals.breakdown import Breakdown
from wayfare.store.summary import (
    ClusterSummary,
    Coverage,
    EpisodeCounts,
    MetricSummary,
    RunSummary,
)

NOTHING = "-"


def render_metrics(summary: RunSummary) -> Iterator[RenderableType]:
    """Yield the tables of a run's metrics, each with an empty line after it."""
    if not summary.metrics:
        return
    yield from (_metric_table(summary.metrics), Text())
    if any(_telling_clusters(metric) for metric in summary.metrics.values()):
        yield from (_cluster_table(summary.metrics), Text())
    if any(metric.repeats for metric in summary.metrics.values()):
        yield from (_repeat_table(summary.metrics), Text())


def render_breakdown(breakdown: Breakdown) -> RenderableType:
    """Return the table of `wayfare show --by`: one row per value of the label."""
    names = sorted({name for part in breakdown.parts.values() for name in part.metrics})
    table = make_table(breakdown.key, right=("episodes", "errors", *names))
    for label, part in breakdown.parts.items():
        cells = (_mean_cell(part.metrics.get(name)) for name in names)
        table.add_row(
            Text(label or NOTHING), str(part.episodes.finished), str(part.episodes.error), *cells
        )
    return table


def describe_denominators(summary: RunSummary) -> Iterator[str]:
    """Yield, where episodes ended in `error`, what each BOOL's share is over and without them."""
    counts = summary.episodes
    for name, metric in summary.metrics.items():
        if metric.errors_as_failures is not None:
            share = describe_share(metric)
            errors = "1 error" if counts.error == 1 else f"{counts.error} errors"
            yield (
                f"{name} {share} over {metric.n} of {counts.finished} episodes; {errors}; counted "
                f"as failures: {metric.errors_as_failures:.2f}"
            )


def describe_share(metric: MetricSummary) -> str:
    """Return a mean with its interval, as in `0.41 [0.32, 0.51]`."""
    if metric.mean is None or metric.ci_low is None or metric.ci_high is None:
        return NOTHING if metric.mean is None else f"{metric.mean:.2f}"
    return f"{metric.mean:.2f} [{metric.ci_low:.2f}, {metric.ci_high:.2f}]"


def describe_coverage(coverage: Coverage, counts: EpisodeCounts) -> str:
    """Return whether each episode is proved to count exactly once, or what forbids the proof."""
    where = f"list {coverage.list_hash[:8]}"
    if coverage.certified:
        return f"certified: each of the {counts.total} episodes counts exactly once ({where})"
    missing = f"{coverage.missing} of {coverage.episodes} episodes are missing"
    reasons = [*([missing] if coverage.missing else []), *coverage.problems]
    return "\n".join([f"not certified ({where}): {reasons[0]}", *reasons[1:]])


def format_number(value: float | None) -> str:
    """Return a number to three decimals, or to three digits where those would hide it."""
    if value is None:
        return NOTHING
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return f"{value:.3f}"
    return f"{value:.3g}"


def make_table(*left: str, right: Iterable[str], last: str = "") -> Table:
    """Return an empty table; words stand left, numbers right, what may be long is last."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    add_columns(table, *left, right=right)
    if last:
        table.add_column(last, overflow="fold")
    return table


def add_columns(table: Table, *left: str, right: Iterable[str]) -> None:
    """Add columns of words, which are folded, and of numbers."""
    for name in left:
        table.add_column(name, overflow="fold")
    for name in right:
        table.add_column(name, justify="right")


def _metric_table(metrics: Mapping[str, MetricSummary]) -> Table:
    table = make_table("metric", right=("n", "mean", "95 % interval"), last="undefined")
    for name, metric in metrics.items():
        undefined = ", ".join(f"{count} {reason}" for reason, count in metric.undefined.items())
        table.add_row(
            Text(name),
            str(metric.n),
            format_number(metric.mean),
            _interval(metric.ci_low, metric.ci_high),
            Text(undefined or NOTHING),
        )
    return table


def _cluster_table(metrics: Mapping[str, MetricSummary]) -> Table:
    """Return means over units that weigh the same, and how well these tell the mean above."""
    right = ("over", "macro mean", "95 % interval", "interval of the mean")
    table = make_table("metric", right=right)
    for name, metric in metrics.items():
        for kind, cluster in _telling_clusters(metric).items():
            table.add_row(
                Text(name),
                describe_count(cluster.count, kind),
                format_number(cluster.macro_mean),
                _interval(cluster.macro_ci_low, cluster.macro_ci_high),
                _interval(cluster.ci_low, cluster.ci_high),
            )
    return table


def _telling_clusters(metric: MetricSummary) -> Mapping[str, ClusterSummary]:
    """Return scenes, and groups of unequal sizes: of equal ones the table above says as much."""
    return {
        kind: cluster
        for kind, cluster in metric.clusters.items()
        if kind == "scene" or not math.isclose(cluster.macro_mean, metric.mean or 0.0)
    }


def _repeat_table(metrics: Mapping[str, MetricSummary]) -> Table:
    right = ("std. error", "of a rerun", "var. between", "var. within", "ICC")
    table = make_table("metric", right=right, last="mean of each repeat")
    for name, metric in metrics.items():
        found = metric.repeats
        if found is not None:
            table.add_row(
                Text(name),
                format_number(found.standard_error),
                format_number(found.standard_error_rerun),
                format_number(found.variance_between),
                format_number(found.variance_within),
                format_number(found.icc),
                ", ".join(format_number(mean) for mean in found.means),
            )
    return table


def _mean_cell(metric: MetricSummary | None) -> str:
    if metric is None or metric.mean is None:
        return NOTHING
    if metric.ci_low is None or metric.ci_high is None:
        return format_number(metric.mean)
    ends = f"{format_number(metric.ci_low)}, {format_number(metric.ci_high)}"
    return f"{format_number(metric.mean)} [{ends}]"


def _interval(low: float | None, high: float | None) -> str:
    return NOTHING if low is None else f"{format_number(low)} to {format_number(high)}"
