"""Draw what a run's copies did: calls, the batches of each tool, copies that did not shut down.

Knows nothing of how it was counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.table import Table

from wayfare.cli.metric_view import NOTHING, add_columns, make_table
from wayfare.cli.output import Text
from wayfare.store.summary import NodesetReport, RunSummary, ToolBatches

MAX_NAME_WIDTH = 40
"""Columns of a tool's name that others give way to."""
MAX_SHARES = 4
"""So many of the most frequent sizes or reasons are named."""


def render_nodesets(nodesets: Mapping[str, NodesetReport]) -> Iterator[RenderableType]:
    """Yield the table of nodesets and, where calls met in batches, that of the batched tools."""
    yield _nodeset_table(nodesets)
    if any(report.tools for report in nodesets.values()):
        yield from (Text(), _tool_table(nodesets))


def describe_shutdown(nodesets: Mapping[str, NodesetReport]) -> str:
    """Return which copies did not shut down as they should, a line per nodeset; "" if all did."""
    lines = []
    for report in nodesets.values():
        if report.shutdown_faults:
            first, *rest = report.shutdown_faults
            more = f" (and {len(rest)} more)" if rest else ""
            lines.append(
                f"copy {first.tag!r}{more} did not shut down as it should: {first.reason}; no "
                f"result depends on it"
            )
    return "\n".join(lines)


def describe_uncounted(summary: RunSummary) -> str:
    """Return what the tables of nodesets and batches lack, a line each, "" if nothing."""
    lines = []
    if count := summary.uncounted_parts:
        parts = "one part" if count == 1 else f"{count} parts"
        lines.append(
            f"what copies did in {parts} of the run, which ended without a summary or is under way"
        )
    for name, report in summary.nodesets.items():
        if count := report.uncounted_copies:
            copies = f"{count} copies" if count > 1 else "one copy"
            lines.append(
                f"the batches that {copies} of {name} had served, which died or did not answer "
                f"before telling of them"
            )
    return "\n".join(lines)


def _nodeset_table(nodesets: Mapping[str, NodesetReport]) -> Table:
    table = make_table(
        "nodeset", "mode", right=("copies", "calls", "preflights", "restarts", "mean batch")
    )
    for name, report in nodesets.items():
        copies = report.copies
        table.add_row(
            Text(name),
            report.parallelism,
            str(len(copies)) if copies else NOTHING,
            str(sum(copy.calls for copy in copies)) if copies else NOTHING,
            str(sum(copy.preflights for copy in copies)) if copies else NOTHING,
            str(sum(copy.restarts for copy in copies)) if copies else NOTHING,
            f"{report.mean_batch:.2f}" if report.mean_batch is not None else NOTHING,
        )
    return table


def _tool_table(nodesets: Mapping[str, NodesetReport]) -> Table:
    """Return a line per tool, whose name stays whole: shares of sizes and reasons give way."""
    tools = {
        f"{nodeset}__{name}": tool
        for nodeset, report in nodesets.items()
        for name, tool in report.tools.items()
    }
    table = Table(box=None, pad_edge=False, header_style="bold")
    longest = max(len(name) for name in tools)
    table.add_column("batched tool", overflow="fold", min_width=min(longest, MAX_NAME_WIDTH))
    add_columns(table, right=("rows", "batches", "mean", "reruns"))
    add_columns(table, "of size", "served because", right=())
    for name, tool in tools.items():
        table.add_row(Text(name), *_tool_cells(tool))
    return table


def _tool_cells(tool: ToolBatches) -> Iterator[str]:
    yield str(tool.rows)
    yield str(tool.batches)
    yield f"{tool.mean_batch:.2f}"
    yield str(tool.reruns)
    yield _describe_shares(tool.histogram)
    yield _describe_shares(tool.flushes)


def _describe_shares(counts: Mapping[str, int]) -> str:
    """Return the shares of the most frequent, and that of all others together."""
    total = sum(counts.values())
    ranked = sorted(counts.items(), key=lambda entry: -entry[1])
    rest = sum(count for _, count in ranked[MAX_SHARES:])
    named = [*ranked[:MAX_SHARES], *([("others", rest)] if rest else [])]
    return ", ".join(f"{name}: {_describe_share(count / total)}" for name, count in named)


def _describe_share(share: float) -> str:
    """Return a share in whole per cent, but never all or nothing where it is less or more."""
    percent = round(100 * share)
    if percent == 0:
        return "<1 %"
    return ">99 %" if percent == 100 and share < 1 else f"{percent} %"
