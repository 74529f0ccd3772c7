"""Draw the comparison of two runs for people.

Knows nothing of how it was made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.table import Table

from wayfare.cli.metric_view import NOTHING, format_number
from wayfare.cli.output import Text
from wayfare.evals.comparison import ComparedRun, Comparison
from wayfare.evals.comparison_divergence import Divergence
from wayfare.evals.comparison_header import Difference
from wayfare.evals.comparison_table import MetricComparison
from wayfare.evals.comparison_value import ValueDifference

MAX_EPISODES = 10

_HOW = {
    "other outputs": "other outputs",
    "fired in a only": "it fired in a only",
    "fired in b only": "it fired in b only",
    "error": "an error",
    "other result": "all firings are equal, the result is not",
    "not finished": "finished in one run only",
}


def render_comparison(comparison: Comparison) -> RenderableType:
    """Return what `wayfare compare` prints."""
    lines = [
        *_run_lines("a", comparison.a),
        *_run_lines("b", comparison.b),
        "",
        *_difference_lines("The runs' episodes or metrics differ", comparison.terms),
        *_agent_lines(comparison),
        "",
        *_episode_lines(comparison),
    ]
    parts: list[RenderableType] = [Text("\n".join(lines))]
    if comparison.divergences:
        parts += [Text(), _episode_table(comparison.divergences[:MAX_EPISODES])]
        more = len(comparison.divergences) - MAX_EPISODES
        if more > 0:
            parts.append(Text(f"and {more} more, which --json lists"))
    if comparison.metrics:
        parts += [Text(), _metric_table(comparison), Text(), Text("\n".join(_notes(comparison)))]
    return Group(*parts)


def describe_place(node: str, turns: Iterable[int]) -> str:
    """Return a firing's place for people: `turn 7, node 'act'`."""
    text = ".".join(str(turn) for turn in turns)
    return f"turn {text}, node {node!r}" if text else f"node {node!r}"


def _run_lines(name: str, run: ComparedRun) -> Iterator[str]:
    workers = f"{run.worker_count} worker{'' if run.worker_count == 1 else 's'}"
    yield f"{name}  {run.run_id}  {run.digest}"
    yield f"   {workers}, {run.finished} of {run.total} episodes finished, {run.error} error"


def _difference_lines(head: str, differences: Iterable[Difference]) -> Iterator[str]:
    lines = [f"  {difference}" for difference in differences]
    if lines:
        yield f"{head} ({len(lines)}):"
        yield from lines


def _agent_lines(comparison: Comparison) -> Iterator[str]:
    if comparison.same_agent:
        yield "The agents do not differ: graph, nodesets, seed, step budget and versions are equal."
    yield from _difference_lines("The agents differ", comparison.agent)


def _episode_lines(comparison: Comparison) -> Iterator[str]:
    counts = comparison.episodes
    line = f"Episodes: {counts.pairs} in both, {counts.equal} equal, {counts.different} different"
    if counts.unfinished:
        line += f", {counts.unfinished} finished in neither"
    if counts.only_a or counts.only_b:
        line += f"; {len(counts.only_a)} in a only, {len(counts.only_b)} in b only"
    yield line
    first = comparison.first_divergence
    if first is None:
        yield (
            "The digests are equal."
            if comparison.equal
            else ("The digests differ, though no episode does that both have.")
        )
        return
    yield f"First divergence: episode {first.key}, {_describe_parting(first)}"
    yield from _detail_lines(first)
    unclaimed = sorted({*comparison.a.unclaimed, *comparison.b.unclaimed})
    if comparison.same_agent and unclaimed:
        tools = ", ".join(unclaimed)
        yield f"  the runs claim no equality: the batch size may change the last bits of {tools}"


def _describe_parting(found: Divergence) -> str:
    place = f"{describe_place(found.node, found.turns)}: " if found.node else ""
    return f"{place}{_HOW[found.how]}"


def _detail_lines(found: Divergence) -> Iterator[str]:
    if found.inputs_equal:
        yield "  its inputs are equal in both runs"
    yield from (f"  {_describe_value(value)}" for value in found.values)
    yield from (f"  a: {text}" for text in (found.error_a,) if text)
    yield from (f"  b: {text}" for text in (found.error_b,) if text)
    if found.how == "other result":
        if found.outcome_a != found.outcome_b:
            yield f"  outcome: {found.outcome_a} -> {found.outcome_b}"
        if found.metrics:
            yield f"  metrics that differ: {', '.join(found.metrics)}"


def _describe_value(value: ValueDifference) -> str:
    source = f" (from {value.source})" if value.source else ""
    note = f" ({value.note})" if value.note else ""
    place = f", {value.place}" if value.place else ""
    turns = ".".join(str(turn) for turn in value.turns)
    at = f" at turn {turns}" if turns else ""
    return f"{value.node}.{value.port}{source}{at}{place}: {value.a} -> {value.b}{note}"


def _episode_table(divergences: Iterable[Divergence]) -> Table:
    table = _table("episode", "first divergence", "other firings", "other metrics")
    for found in divergences:
        is_usual = found.how == "other outputs"
        place = describe_place(found.node, found.turns) if is_usual else _describe_parting(found)
        table.add_row(
            Text(found.key),
            Text(place),
            _count_firings(found),
            Text(", ".join(found.metrics) or NOTHING),
        )
    return table


def _count_firings(found: Divergence) -> str:
    if found.error_a or found.error_b:
        return NOTHING  # how many there are depends on when the failure was noticed
    missing = found.firings_only_a + found.firings_only_b
    total = found.firings_equal + found.firings_different + missing
    return f"{found.firings_different + missing} of {total}" if total else NOTHING


def _metric_table(comparison: Comparison) -> Table:
    right = ("pairs", "a", "b", "b - a", "95 % interval", "p", "could show")
    table = _table("metric", right=right)
    has_left_out = any(metric.left_out for metric in comparison.metrics.values())
    if has_left_out:
        table.add_column("left out", overflow="fold")
    for name, metric in comparison.metrics.items():
        found = metric.difference
        interval = f"{format_number(found.ci_low)} to {format_number(found.ci_high)}"
        table.add_row(
            Text(name),
            str(found.n),
            format_number(found.mean_a),
            format_number(found.mean_b),
            format_number(found.difference),
            interval if found.ci_low is not None else NOTHING,
            format_number(found.p_value),
            format_number(found.detectable),
            *([Text(_describe_left_out(metric))] if has_left_out else []),
        )
    return table


def _describe_left_out(metric: MetricComparison) -> str:
    if not metric.left_out:
        return NOTHING
    reasons = [
        f"{name}: {', '.join(f'{count} {reason}' for reason, count in counts.items())}"
        for name, counts in (("a", metric.reasons_a), ("b", metric.reasons_b))
        if counts
    ]
    return f"{metric.left_out} ({'; '.join(reasons)})"


def _notes(comparison: Comparison) -> Iterator[str]:
    methods = Counter(metric.difference.method for metric in comparison.metrics.values())
    if methods["mcnemar"]:
        yield "p: McNemar's exact test; interval of booleans: Tango's."
    if methods["cluster sign flips"]:
        yield "p: exact, whole groups of episodes flipped; interval: Tango's, by effective pairs."
    if methods["bootstrap"]:
        yield "interval of numbers: paired bootstrap of groups of episodes."
    yield "could show: the smallest true difference found with a power of 80 % at 5 %."


def _table(*left: str, right: Iterable[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in left:
        table.add_column(name, overflow="fold")
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table
