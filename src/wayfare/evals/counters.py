"""Sum up what copies did: their calls, the batches of each tool, how they shut down.

Sums go over copies and over the parts of a run that went on. Knows nothing of how copies are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from wayfare.fleet.fleet import CopyCounters
from wayfare.fleet.member import Queues
from wayfare.fleet.shutdown import ShutdownFault
from wayfare.store.records import RunHeader
from wayfare.store.resumption import find_resumptions
from wayfare.store.run import RunReader
from wayfare.store.summary import CopyReport, NodesetReport, ShutdownReport, ToolBatches

Reports = dict[str, NodesetReport]

_Counted = TypeVar("_Counted")


def report_nodesets(
    header: RunHeader,
    copies: Iterable[CopyCounters] = (),
    queues: Mapping[str, Iterable[Queues | None]] | None = None,
) -> Reports:
    """Return what each nodeset's copies did.

    `queues` has, by tag, what the copies in that place have said, None for each that can't say it.
    """
    copies, by_tag = list(copies), queues or {}
    reports = {}
    for name, nodeset in header.nodesets.items():
        own = [copy for copy in copies if copy.nodeset == name]
        answers = [said for copy in own for said in by_tag.get(copy.tag, ())]
        tools = _read_tools(said for said in answers if said is not None)
        batches = sum(tool.batches for tool in tools.values())
        rows = sum(tool.rows for tool in tools.values())
        reports[name] = NodesetReport(
            parallelism=nodeset.parallelism,
            copies=tuple(_report_copy(copy) for copy in own),
            batches=batches,
            mean_batch=rows / batches if batches else None,
            flushes=_add_counts(*(tool.flushes for tool in tools.values())),
            tools=tools,
            uncounted_copies=answers.count(None),
        )
    return reports


def add_reports(
    earlier: Mapping[str, NodesetReport], later: Mapping[str, NodesetReport]
) -> Reports:
    """Return what copies did in two parts of a run; a copy is known by its tag."""
    return _merge(earlier, later, _add_nodesets)


def add_shutdown_faults(
    reports: Mapping[str, NodesetReport], faults: Mapping[str, Sequence[ShutdownFault]]
) -> Reports:
    """Return the reports with the faults, by nodeset, of copies that were shut down since."""
    return {
        name: replace(report, shutdown_faults=tuple(_list_faults(report, faults.get(name, ()))))
        for name, report in reports.items()
    }


def count_earlier_parts(reader: RunReader) -> tuple[Reports, int]:
    """Return what copies did in a run until now, and how many of its parts nobody counted.

    A part leaves its counters, and those of the earlier ones, in the run's summary. If it was
    killed there is none; what was counted before it stands where the run went on.
    """
    summary = reader.summary()
    if summary is not None:
        return summary.nodesets, summary.uncounted_parts
    known = report_nodesets(reader.header)
    resumptions, _ = find_resumptions(reader.folder)
    if not resumptions:
        return known, 1
    return add_reports(known, resumptions[-1].counted), resumptions[-1].uncounted_parts + 1


def _read_tools(said: Iterable[Queues]) -> dict[str, ToolBatches]:
    """Return the counters of the tools that served a batch, by their names."""
    tools: dict[str, ToolBatches] = {}
    for queues in said:
        served = {name: _read_tool(entry) for name, entry in queues.items() if entry["batches"]}
        tools = _merge(tools, served, _add_tools)
    return dict(sorted(tools.items()))


def _read_tool(counters: Mapping[str, Any]) -> ToolBatches:
    return ToolBatches(
        rows=counters["rows"],
        batches=counters["batches"],
        mean_batch=counters["rows"] / counters["batches"],
        places=counters["places"],
        histogram=counters["histogram"],
        flushes=_add_counts(counters["flushes"]),
        reruns=counters["reruns"],
        wait_s=counters["wait_s"],
        handler_s=counters["handler_s"],
    )


def _add_tools(a: ToolBatches, b: ToolBatches) -> ToolBatches:
    histogram = _add_counts(a.histogram, b.histogram)
    return ToolBatches(
        rows=a.rows + b.rows,
        batches=a.batches + b.batches,
        mean_batch=(a.rows + b.rows) / (a.batches + b.batches),
        places=a.places + b.places,
        histogram={size: histogram[size] for size in sorted(histogram, key=int)},
        flushes=_add_counts(a.flushes, b.flushes),
        reruns=a.reruns + b.reruns,
        wait_s=a.wait_s + b.wait_s,
        handler_s=a.handler_s + b.handler_s,
    )


def _add_nodesets(a: NodesetReport, b: NodesetReport) -> NodesetReport:
    batches = a.batches + b.batches
    rows = (a.mean_batch or 0.0) * a.batches + (b.mean_batch or 0.0) * b.batches
    return NodesetReport(
        parallelism=b.parallelism,
        copies=tuple(_merge(_by_tag(a), _by_tag(b), _add_copies).values()),
        batches=batches,
        mean_batch=rows / batches if batches else None,
        flushes=_add_counts(a.flushes, b.flushes),
        tools=dict(sorted(_merge(a.tools, b.tools, _add_tools).items())),
        shutdown_faults=(*a.shutdown_faults, *b.shutdown_faults),
        uncounted_copies=a.uncounted_copies + b.uncounted_copies,
    )


def _by_tag(report: NodesetReport) -> dict[str, CopyReport]:
    return {copy.tag: copy for copy in report.copies}


def _add_copies(a: CopyReport, b: CopyReport) -> CopyReport:
    return CopyReport(
        tag=b.tag,
        pid=b.pid,
        workers=tuple(sorted({*a.workers, *b.workers})),
        calls=a.calls + b.calls,
        preflights=a.preflights + b.preflights,
        restarts=a.restarts + b.restarts,
        recycled=a.recycled + b.recycled,
    )


def _report_copy(copy: CopyCounters) -> CopyReport:
    return CopyReport(
        tag=copy.tag,
        pid=copy.pid,
        workers=tuple(copy.workers),
        calls=copy.calls,
        preflights=copy.preflights,
        restarts=copy.restarts,
        recycled=copy.recycled,
    )


def _list_faults(
    report: NodesetReport, faults: Iterable[ShutdownFault]
) -> Iterator[ShutdownReport]:
    """Yield the faults that are known and the new ones, each traceback with its first copy only."""
    yield from report.shutdown_faults
    known = {fault.traceback for fault in report.shutdown_faults}
    for fault in faults:
        text = "" if fault.traceback_text in known else fault.traceback_text
        known.add(fault.traceback_text)
        yield ShutdownReport(tag=fault.tag, reason=fault.reason, traceback=text)


def _merge(
    a: Mapping[str, _Counted],
    b: Mapping[str, _Counted],
    add: Callable[[_Counted, _Counted], _Counted],
) -> dict[str, _Counted]:
    """Return what either has; what both have is added."""
    return {**a, **{name: add(a[name], item) if name in a else item for name, item in b.items()}}


def _add_counts(*counts: Mapping[str, int]) -> dict[str, int]:
    names = sorted({name for entry in counts for name in entry})
    return {name: sum(entry.get(name, 0) for entry in counts) for name in names}
