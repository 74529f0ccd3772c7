"""How calls share a handler: stacking, padding, bisection, and each call its own outcome."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nodeset.batch import BatchRunner, BatchStats
from nodeset.caller import Call, Caller, CancelledCallError
from nodeset.contract import BaseCanvasNode
from nodeset.errors import AuthorError, PortError
from nodeset.ports import PortDef


class Tool(BaseCanvasNode):
    """Calls `handler(inputs, ctx)` and remembers what it was given."""

    node_type = "line__tool"
    input_ports = [
        PortDef("x", "ARRAY"),
        PortDef("act", "ACTION"),
        PortDef("tag", "TEXT", "", True),
    ]
    output_ports = [PortDef("y", "INT"), PortDef("note", "TEXT", "", True)]
    batched = True
    batch_dim = "x"

    def __init__(self, handler=None, *, pad_batch=0, max_batch=0):
        self.handler = handler or (
            lambda inputs, ctx: {"y": [int(row.sum()) for row in inputs["x"]]}
        )
        vars(self).update(pad_batch=pad_batch, max_batch=max_batch)
        self.seen = []

    def forward(self, inputs, ctx):
        self.seen.append(inputs)
        return self.handler(inputs, ctx)


def serve(tool, rows, row_limit=0, dropped=(), **fields):
    """Serve calls with these inputs; return their outcomes in order, and the counters."""
    outcomes, logs = {}, {}

    def answer(call, outcome, logged):
        assert call.id not in outcomes
        outcomes[call.id], logs[call.id] = outcome, logged

    calls = [
        Call(Caller(), id=i, tool="t", path="n", config={}, inputs=row, answer=answer, seed=i)
        for i, row in enumerate(rows)
    ]
    for index in dropped:
        calls[index].is_dropped = True
    stats = BatchStats()
    BatchRunner(tool, lambda t, i, c: t.forward(i, c), lambda: 0.0, stats, row_limit).serve(calls)
    return [outcomes[i] for i in range(len(rows))], stats, logs


def row(*values, act=0, **more):
    return {"x": np.array(values), "act": act, **more}


def test_arrays_arrive_stacked_and_all_other_ports_as_lists():
    tool = Tool()
    outcomes, _, _ = serve(tool, [row(1, 2, act="go"), row(3, 4, act="stop")])
    (inputs,) = tool.seen
    assert inputs["x"].shape == (2, 2)
    assert inputs["act"] == ["go", "stop"]
    assert outcomes == [{"y": 3}, {"y": 7}]


def test_an_action_that_is_an_array_is_stacked_too():
    tool = Tool()
    serve(tool, [row(1, act=np.zeros(3)), row(2, act=np.ones(3))])
    assert tool.seen[0]["act"].shape == (2, 3)


def test_one_row_takes_the_same_road():
    tool = Tool()
    outcomes, _, _ = serve(tool, [row(5)])
    assert tool.seen[0]["x"].shape == (1, 1)
    assert outcomes == [{"y": 5}]


def test_stacked_rows_are_read_only():
    def write(inputs, ctx):
        inputs["x"][0] = 1

    outcomes, _, _ = serve(Tool(write), [row(5)])
    assert "read-only" in outcomes[0].message


@pytest.mark.parametrize(
    "other",
    [
        row(1, 2),
        row(1.0),
        row(1, act=np.zeros(1)),
        row(1, tag="a"),
        {**row(1), "x": np.array([1], np.int8)},
    ],
    ids=["shape", "dtype", "kind", "port", "width"],
)
def test_rows_that_differ_in_form_do_not_share_a_batch(other):
    _, stats, _ = serve(Tool(), [row(1), other, row(3)])
    assert stats.histogram == {1: 1, 2: 1}


@pytest.mark.parametrize("count", [1, 3, 4, 9])
def test_a_padded_handler_always_sees_exactly_its_size(count):
    tool = Tool(pad_batch=4)
    outcomes, _, _ = serve(tool, [row(i) for i in range(count)])
    assert {inputs["x"].shape for inputs in tool.seen} == {(4, 1)}
    assert outcomes == [{"y": i} for i in range(count)]


def test_padding_is_made_of_copies_of_row_0_that_disturb_no_generator():
    drawn = []

    def draw(inputs, ctx):
        drawn.extend(context.rng.integers(10**9) for context in ctx.rows)
        return {"y": [0] * len(ctx.rows)}

    tool = Tool(draw, pad_batch=3)
    serve(tool, [row(7)])
    assert tool.seen[0]["x"].tolist() == [[7], [7], [7]]
    assert drawn[0] == drawn[1] == drawn[2]


@pytest.mark.parametrize(("count", "bad"), [(n, bad) for n in (8, 16) for bad in range(n)])
def test_bisection_isolates_one_failing_row(count, bad):
    def refuse(inputs, ctx):
        values = [int(x[0]) for x in inputs["x"]]
        if bad in values:
            raise ValueError(f"row {bad}")
        return {"y": values}

    tool = Tool(refuse)
    outcomes, _, _ = serve(tool, [row(i) for i in range(count)])
    assert len(tool.seen) <= 2 * math.log2(count) + 1
    assert [i for i, outcome in enumerate(outcomes) if isinstance(outcome, AuthorError)] == [bad]
    assert outcomes[bad].type_name == "ValueError"
    assert outcomes[(bad + 1) % count] == {"y": (bad + 1) % count}


def test_each_failing_row_gets_its_own_error_with_the_authors_traceback():
    def refuse(inputs, ctx):
        for x in inputs["x"]:
            if x[0] % 2:
                raise ValueError(f"odd {int(x[0])}")
        return {"y": [0] * len(inputs["x"])}

    outcomes, _, _ = serve(Tool(refuse), [row(i) for i in range(4)])
    assert "line__tool.forward raised ValueError: odd 1" in outcomes[1].message
    assert "odd 3" in outcomes[3].message
    assert outcomes[3].traceback_text.count('File "') == 3  # the fake, the tool and its handler
    assert "batch.py" not in outcomes[3].traceback_text.replace("test_batch.py", "")


def test_a_row_that_runs_again_draws_the_same_numbers_and_logs_once():
    def draw(inputs, ctx):
        values = [int(context.rng.integers(10**9)) for context in ctx.rows]
        ctx.log("size", len(values))
        if len(values) > 1:
            raise ValueError("too many")
        return {"y": values}

    together, _, logs = serve(Tool(draw), [row(1), row(2)])
    alone, _, _ = serve(Tool(draw), [row(1), row(2)], row_limit=1)
    assert together == alone
    assert logs[0] == [("size", 1)]


def test_a_wrong_number_of_results_is_the_authors_error_though_each_row_is_well_alone():
    outcomes, stats, _ = serve(Tool(lambda inputs, ctx: {"y": [1]}), [row(1), row(2)])
    expected = "line__tool output 'y': expected 2 results, got 1"
    assert all(isinstance(outcome, AuthorError) for outcome in outcomes)
    assert outcomes[0].message.startswith(expected)
    assert "return one per input" in outcomes[0].message
    assert stats.batches == 1


@pytest.mark.parametrize("poison", [lambda good: {"y": good}, lambda good: None, lambda good: {}])
def test_a_row_that_spoils_the_form_of_its_batch_fails_alone_among_eight(poison):
    def spoil(inputs, ctx):
        values = [int(x[0]) for x in inputs["x"]]
        good = [value for value in values if value != 5]
        return {"y": good} if good == values else poison(good)

    tool = Tool(spoil)
    outcomes, _, _ = serve(tool, [row(i) for i in range(8)])
    assert len(tool.seen) <= 2 * math.log2(8) + 1
    alone, _, _ = serve(Tool(spoil), [row(i) for i in range(8)], row_limit=1)
    assert [repr(outcome) for outcome in outcomes] == [repr(outcome) for outcome in alone]
    assert [i for i, outcome in enumerate(outcomes) if outcome != {"y": i}] == [5]


@pytest.mark.parametrize("result", [None, 3, {"y": 3}, {"y": np.array(3)}, {"z": [1]}, {}])
def test_a_result_without_the_due_form_names_the_tool(result):
    outcomes, _, _ = serve(Tool(lambda inputs, ctx: result), [row(1)])
    assert isinstance(outcomes[0], PortError)
    assert "line__tool output" in str(outcomes[0])


def test_a_wrong_type_in_one_row_is_that_rows_error_alone():
    outcomes, _, _ = serve(
        Tool(lambda inputs, ctx: {"y": [1, "two", 3]}), [row(i) for i in range(3)]
    )
    assert [outcomes[0], outcomes[2]] == [{"y": 1}, {"y": 3}]
    assert "'y' (INT): got str 'two', due an integer" in str(outcomes[1])


def test_an_optional_port_may_be_left_out_for_some_rows():
    outcomes, _, _ = serve(
        Tool(lambda inputs, ctx: {"y": np.arange(2), "note": [None, "b"]}), [row(0), row(0)]
    )
    assert outcomes == [{"y": 0}, {"y": 1, "note": "b"}]
    assert type(outcomes[1]["y"]) is int


def test_a_row_with_a_wrong_input_is_refused_before_the_handler_runs():
    outcomes, stats, _ = serve(Tool(), [{"x": [1], "act": 0}, row(2), {"act": 1}])
    assert "line__tool input 'x' (ARRAY)" in str(outcomes[0])
    assert outcomes[1] == {"y": 2}
    assert "the port is required" in str(outcomes[2])
    assert stats.histogram == {1: 1}


def test_a_dropped_call_is_answered_but_not_dispatched():
    tool = Tool()
    outcomes, stats, _ = serve(tool, [row(1), row(2)], dropped=[0])
    assert isinstance(outcomes[0], CancelledCallError)
    assert outcomes[1] == {"y": 2}
    assert stats.histogram == {1: 1}


def test_counters_tell_rows_batches_and_fill():
    _, stats, _ = serve(Tool(pad_batch=4), [row(i) for i in range(6)])
    described = stats.describe()
    assert (described["rows"], described["batches"], described["fill"]) == (6, 2, 0.75)
    assert described["histogram"] == {"2": 1, "4": 1}
