"""What a person sees of copies: batches per tool, faults of `shutdown`, parts nobody counted."""

import io
from dataclasses import replace

import pytest
from rich.console import Console, Group
from tests.unit.store.example import summary

from wayfare.cli.copies_view import describe_shutdown, describe_uncounted, render_nodesets
from wayfare.store.summary import NodesetReport, ShutdownReport, ToolBatches


def lines(nodesets, width=200):
    output = io.StringIO()
    Console(file=output, width=width).print(Group(*render_nodesets(nodesets)), crop=False)
    return [line.split() for line in output.getvalue().splitlines()]


def tool(histogram, flushes):
    batches = sum(histogram.values())
    rows = sum(int(size) * count for size, count in histogram.items())
    return ToolBatches(
        rows=rows,
        batches=batches,
        mean_batch=rows / batches,
        places=rows,
        histogram=histogram,
        flushes=flushes,
        reruns=2,
    )


def test_each_batched_tool_has_a_line():
    tools = {"act": tool({"1": 1, "8": 3}, {"all_waiting": 3, "gap": 1})}
    shown = lines({"policy": NodesetReport(parallelism="shared", tools=tools)})
    assert shown[-1][:11] == [
        "policy__act",
        "25",
        "4",
        "6.25",
        "2",
        "8:",
        "75",
        "%,",
        "1:",
        "25",
        "%",
    ]
    assert shown[-1][11:] == ["all_waiting:", "75", "%,", "gap:", "25", "%"]


def test_many_sizes_are_counted_together_and_no_share_is_rounded_away():
    histogram = {str(size): 1 for size in range(1, 7)} | {"8": 1000}
    (row,) = [
        line
        for line in lines(
            {"p": NodesetReport(parallelism="shared", tools={"t": tool(histogram, {})})}
        )
        if line[:1] == ["p__t"]
    ]
    text = " ".join(row)
    assert "8: 99 %, 1: <1 %, 2: <1 %, 3: <1 %, others: <1 %" in text


def test_a_tools_name_stays_whole_where_the_terminal_is_narrow():
    tools = {"score_everything": tool({"1": 1, "8": 3}, {"all_waiting": 3, "gap": 1})}
    shown = lines({"policy_panorama": NodesetReport(parallelism="shared", tools=tools)}, width=80)
    assert any(line[:1] == ["policy_panorama__score_everything"] for line in shown)


def test_a_run_without_batches_has_the_table_of_nodesets_alone():
    shown = lines({"env": NodesetReport(parallelism="replicated")})
    assert [line[0] for line in shown] == ["nodeset", "env"]


def test_copies_that_did_not_shut_down_are_told_per_nodeset():
    faults = tuple(ShutdownReport(tag=f"env#{n}", reason="it raised") for n in range(3))
    report = NodesetReport(parallelism="replicated", shutdown_faults=faults)
    assert describe_shutdown({"env": report, "policy": NodesetReport(parallelism="shared")}) == (
        "copy 'env#0' (and 2 more) did not shut down as it should: it raised; no result depends on "
        "it"
    )


@pytest.mark.parametrize(("count", "words"), [(0, ""), (1, "one part"), (3, "3 parts")])
def test_parts_that_nobody_counted_are_told(count, words):
    told = describe_uncounted(replace(summary("r1"), uncounted_parts=count))
    assert (words in told, bool(told)) == (True, bool(count))


def test_copies_whose_batches_nobody_counted_are_told_per_nodeset():
    reports = {
        name: NodesetReport(parallelism="shared", uncounted_copies=count)
        for name, count in {"a": 2, "b": 0, "c": 1}.items()
    }
    told = describe_uncounted(replace(summary("r1"), nodesets=reports, uncounted_parts=1))
    assert [line.split(",")[0] for line in told.splitlines()] == [
        "what copies did in one part of the run",
        "the batches that 2 copies of a had served",
        "the batches that one copy of c had served",
    ]
