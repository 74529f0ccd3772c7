"""What copies did is summed up over copies, tools and the parts of a run."""

from typing import Any

from tests.unit.store.example import header as example_header
from tests.unit.store.example import resumption

from wayfare.evals.counters import (
    add_reports,
    add_shutdown_faults,
    count_earlier_parts,
    report_nodesets,
)
from wayfare.evals.report import summarise
from wayfare.fleet.fleet import CopyCounters
from wayfare.fleet.shutdown import ShutdownFault
from wayfare.store.records import NodesetRecord
from wayfare.store.run import RunReader
from wayfare.store.summary import CopyReport, NodesetReport, ShutdownReport
from wayfare.store.writer import RunWriter

NODESET: dict[str, Any] = {"file": "f.py", "source_hash": "cc", "class_name": "C"}


def header():
    nodesets = {
        "env": NodesetRecord(parallelism="replicated", **NODESET),
        "policy": NodesetRecord(parallelism="shared", **NODESET),
    }
    return example_header(nodesets=nodesets)


def copy(nodeset, tag, **fields):
    given = {"pid": 5, "workers": (0,), "calls": 2, "preflights": 0, "restarts": 0}
    return CopyCounters(nodeset=nodeset, tag=tag, **{**given, **fields})


def queue(histogram, flushes, **fields):
    rows = sum(int(size) * count for size, count in histogram.items())
    batches = sum(histogram.values())
    given = {"rows": rows, "batches": batches, "places": 10 * batches, "reruns": 0}
    times = {"wait_s": 0.5, "handler_s": 1.5}
    return {**given, **times, "histogram": histogram, "flushes": flushes, **fields}


def policy(*said):
    return report_nodesets(header(), [copy("policy", "policy")], {"policy": said})["policy"]


ACT = queue({"4": 1, "5": 1}, {"all_waiting": 2}, reruns=3)
LOOK = queue({"1": 1, "2": 1}, {"all_waiting": 1, "gap": 1})
IDLE = queue({}, {})


def test_each_tool_that_served_a_batch_has_counters_and_its_nodeset_their_sum():
    found = policy({"look": LOOK, "act": ACT, "idle": IDLE})
    assert list(found.tools) == ["act", "look"]
    act = found.tools["act"]
    assert (act.rows, act.batches, act.mean_batch, act.reruns) == (9, 2, 4.5, 3)
    assert (act.histogram, act.flushes) == ({"4": 1, "5": 1}, {"all_waiting": 2})
    assert (found.batches, found.mean_batch) == (4, 3.0)
    assert found.flushes == {"all_waiting": 3, "gap": 1}


def test_a_nodeset_whose_copies_said_nothing_has_no_batches():
    found = report_nodesets(header(), [copy("env", "env#0")])
    assert (found["env"].batches, found["env"].mean_batch, found["env"].tools) == (0, None, {})
    assert [entry.tag for entry in found["env"].copies] == ["env#0"]
    assert found["policy"].copies == ()


def test_copies_that_were_recycled_count_too():
    found = policy({"act": ACT}, {"act": queue({"5": 3, "12": 1}, {"gap": 4})}).tools["act"]
    assert (found.rows, found.batches, found.places, found.reruns) == (36, 6, 60, 3)
    assert list(found.histogram.items()) == [("4", 1), ("5", 4), ("12", 1)]
    assert (found.flushes, found.handler_s) == ({"all_waiting": 2, "gap": 4}, 3.0)


def test_copies_that_could_not_say_what_they_served_are_counted():
    found = policy({"act": ACT}, None, None)
    assert (found.batches, found.uncounted_copies) == (2, 2)
    later = {"policy": policy(None)}
    assert add_reports({"policy": found}, later)["policy"].uncounted_copies == 3


def test_parts_of_a_run_are_added_up_by_tag_and_tool():
    first = report_nodesets(
        header(), [copy("env", "env"), copy("policy", "policy")], {"policy": [{"act": ACT}]}
    )
    second = report_nodesets(
        header(),
        [copy("env", "env#0"), copy("policy", "policy", pid=9, workers=(0, 1), restarts=1)],
        {"policy": [{"act": ACT, "look": LOOK}]},
    )
    found = add_reports(first, second)
    assert [entry.tag for entry in found["env"].copies] == ["env", "env#0"]
    assert found["policy"].copies == (
        CopyReport(tag="policy", pid=9, workers=(0, 1), calls=4, restarts=1),
    )
    assert (found["policy"].batches, found["policy"].mean_batch) == (6, 21 / 6)
    assert {name: tool.rows for name, tool in found["policy"].tools.items()} == {
        "act": 18,
        "look": 3,
    }


def test_a_part_that_knew_no_tools_counts_for_its_nodeset():
    old = {"policy": NodesetReport(parallelism="shared", batches=2, mean_batch=4.0)}
    found = add_reports(old, {"policy": policy({"look": LOOK})})["policy"]
    assert (found.batches, found.mean_batch, found.tools["look"].batches) == (4, 11 / 4, 2)


def test_copies_that_did_not_shut_down_are_named_and_a_traceback_stands_once():
    faults = [ShutdownFault(f"env#{n}", "it raised", "Traceback") for n in range(2)]
    found = add_shutdown_faults(report_nodesets(header()), {"env": faults})
    assert found["env"].shutdown_faults == (
        ShutdownReport(tag="env#0", reason="it raised", traceback="Traceback"),
        ShutdownReport(tag="env#1", reason="it raised"),
    )
    again = add_reports(found, add_shutdown_faults(report_nodesets(header()), {"env": faults}))
    assert len(again["env"].shutdown_faults) == 4
    assert found["policy"].shutdown_faults == ()


def end_part(writer, nodesets, uncounted_parts=0):
    writer.finish(
        summarise(
            writer.header,
            (),
            status="incomplete",
            elapsed_seconds=1.0,
            out="",
            nodesets=nodesets,
            uncounted_parts=uncounted_parts,
        )
    )


def test_what_earlier_parts_did_outlives_a_part_that_was_killed(tmp_path):
    counted = report_nodesets(header(), [copy("policy", "policy")], {"policy": [{"act": ACT}]})
    with RunWriter.create(tmp_path, header()) as writer:
        reader = RunReader(writer.folder, writer.header)
        assert count_earlier_parts(reader) == (report_nodesets(header()), 1)
        end_part(writer, counted)
        assert count_earlier_parts(reader) == (counted, 0)
    with RunWriter.reopen(writer.folder) as again:
        again.begin_again(resumption(counted=counted), again.list_left())
    found, uncounted_parts = count_earlier_parts(reader)
    assert (found["policy"], uncounted_parts) == (counted["policy"], 1)
