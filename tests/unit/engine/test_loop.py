"""How loops turn: what is carried, when they end, what comes out."""

from __future__ import annotations

import asyncio

import pytest
from tests.deadline import HANG_SECONDS

from nodeset.errors import AuthorError
from wayfare.engine.errors import NodeFailure

EDGES = [
    "first.value -> loop.init_state",
    "loop.state -> step.state",
    "step.state -> end.state",
    "step.done -> end.stop",
    "end.final_state -> out.value",
    "end.final_step -> steps.value",
    "end.truncated -> cut.value",
]


def counting(bench, extra=None, edges=(), **config):
    nodes = {
        "first": ("const", {"value": 0}),
        "loop": ("iterIn", {"ports": ["state"]}),
        "step": "env__step",
        "end": ("iterOut", {"loop": "loop", "ports": ["state"]} | config),
        "out": ("graphOut", {"portName": "state"}),
        "steps": ("graphOut", {"portName": "steps"}),
        "cut": ("graphOut", {"portName": "cut"}),
    }
    return bench.build(nodes | (extra or {}), [*EDGES, *edges])


def count_to(limit):
    def step(call):
        state = call.inputs["state"] + 1
        return {"state": state, "done": state == limit}

    return step


async def test_a_loop_carries_its_state_until_stop(bench):
    invoker = bench.invoker({"step": count_to(3)})
    result = await bench.executor(counting(bench), invoker).run()
    assert result.metrics == {"state": 3, "steps": 3, "cut": False}
    assert (result.steps, result.truncated) == (3, False)
    assert [(call.step, call.turns) for call in invoker.calls] == [(0, (0,)), (1, (1,)), (2, (2,))]
    assert len({call.seed for call in invoker.calls}) == 3


async def test_a_loop_at_its_budget_is_truncated_and_its_ends_fire(bench):
    result = await bench.run(counting(bench), {"step": count_to(9)}, step_budget=2)
    assert result.metrics == {"state": 2, "steps": 2, "cut": True}
    assert (result.steps, result.truncated) == (2, True)


async def test_a_loop_that_stops_in_its_last_turn_is_not_truncated(bench):
    result = await bench.run(counting(bench), {"step": count_to(2)}, step_budget=2)
    assert (result.steps, result.truncated) == (2, False)


async def test_max_turns_bounds_an_outer_loop_too(bench):
    result = await bench.run(counting(bench, max_turns=4), {"step": count_to(9)}, step_budget=7)
    assert (result.steps, result.truncated) == (4, True)


async def test_a_turn_begins_only_when_every_node_of_the_last_has_fired(bench):
    document = counting(bench, {"side": "policy__go"}, ["loop.step -> side.x"])
    invoker = bench.invoker({"step": count_to(2), "side": lambda call: {"y": 0}}, {"side"})
    task = asyncio.ensure_future(bench.executor(document, invoker).run())
    await invoker.wait_for("side")
    await invoker.wait_for("step")
    for _ in range(10):
        await asyncio.sleep(0)
    assert invoker.paths == ["step", "side"]
    invoker.release("side")
    await asyncio.wait_for(task, HANG_SECONDS)
    assert sorted(invoker.paths) == ["side", "side", "step", "step"]


async def test_a_value_from_outside_is_there_in_every_turn(bench):
    extra = {"outside": "policy__go", "side": "policy__go"}
    edges = ["outside.y -> side.x", "loop.step -> side.after"]
    invoker = bench.invoker(
        {"step": count_to(3), "outside": lambda call: {"y": 8}, "side": lambda call: {"y": 0}}
    )
    await bench.executor(counting(bench, extra, edges), invoker).run()
    assert [call.inputs for call in invoker.calls if call.path == "side"] == [{"x": 8}] * 3
    assert invoker.paths[0] == "outside"


async def test_a_carried_port_that_is_off_keeps_its_value(bench):
    def maybe(call):
        return {"y": "new"} if call.step == 1 else {}

    nodes = {
        "loop": ("iterIn", {"ports": ["note"]}),
        "maybe": "env__maybe",
        "read": "policy__go",
        "stop": "policy__is_done",
        "end": ("iterOut", {"loop": "loop", "ports": ["note"]}),
        "out": ("graphOut", {"portName": "steps"}),
    }
    edges = [
        "loop.step -> maybe.x",
        "maybe.y -> end.note",
        "loop.note -> read.x",
        "loop.step -> stop.x",
        "stop.done -> end.stop",
        "end.final_step -> out.value",
        "read.y -> stop.after",
    ]
    invoker = bench.invoker(
        {
            "maybe": maybe,
            "read": lambda call: {"y": 0},
            "stop": lambda call: {"done": call.inputs["x"] == 3},
        }
    )
    await bench.executor(bench.build(nodes, edges), invoker).run()
    notes = [call.inputs for call in invoker.calls if call.path == "read"]
    assert notes == [{}, {}, {"x": "new"}, {"x": "new"}]


async def test_a_port_that_is_not_carried_keeps_its_first_value(bench):
    nodes = {
        "goal": ("const", {"value": "door"}),
        "loop": ("iterIn", {"ports": ["goal"]}),
        "read": "policy__step",
        "end": ("iterOut", {"loop": "loop"}),
        "out": ("graphOut", {"portName": "steps"}),
    }
    edges = [
        "goal.value -> loop.init_goal",
        "loop.goal -> read.state",
        "read.done -> end.stop",
        "end.final_step -> out.value",
    ]
    invoker = bench.invoker({"read": lambda call: {"state": 0, "done": call.step == 2}})
    await bench.executor(bench.build(nodes, edges), invoker).run()
    assert [call.inputs["state"] for call in invoker.calls] == ["door"] * 3


async def test_stop_that_is_off_is_an_error_of_the_iter_out(bench):
    nodes = {
        "loop": ("iterIn", {}),
        "maybe": "env__maybe",
        "end": ("iterOut", {"loop": "loop"}),
        "out": ("graphOut", {"portName": "steps"}),
    }
    edges = ["loop.step -> maybe.x", "maybe.y -> end.stop", "end.final_step -> out.value"]

    def maybe(call):
        return {"y": False} if call.step == 0 else {}

    with pytest.raises(NodeFailure, match=r"iterOut 'end' input 'stop' .BOOL. is off") as caught:
        await bench.run(bench.build(nodes, edges), {"maybe": maybe})
    assert (caught.value.path, caught.value.turns) == ("end", (1,))


async def test_a_failure_ends_the_loop_at_its_turn(bench):
    def step(call):
        return AuthorError("broke") if call.step == 2 else {"state": 0, "done": False}

    invoker = bench.invoker({"step": step})
    executor = bench.executor(counting(bench), invoker)
    with pytest.raises(NodeFailure, match="node 'step' in turn 2: broke") as caught:
        await executor.run()
    assert (caught.value.path, caught.value.turns) == ("step", (2,))
    assert (executor.steps, len(invoker.calls)) == (3, 3)


async def test_calls_before_and_after_a_loop_keep_their_place_at_the_copy(bench):
    extra = {
        "report": "env__need",
        "late": "env__go",
        "early": "env__go",
        "out2": ("graphOut", {"portName": "r"}),
        "out3": ("graphOut", {"portName": "e"}),
        "zero": ("const", {"value": 0}),
    }
    edges = [
        "end.final_state -> report.x",
        "report.y -> out2.value",
        "early.y -> out3.value",
        "zero.value -> late.x",
    ]
    invoker = bench.invoker(
        {name: (lambda call: {"y": 1}) for name in ("report", "late", "early")}
        | {"step": count_to(2)}
    )
    document = counting(bench, extra, edges)
    await bench.executor(document, invoker, ordered={"env"}).run()
    assert invoker.paths == ["early", "step", "step", "report", "late"]
    assert invoker.most_running == 1


async def test_an_inner_loop_starts_afresh_in_each_outer_turn(bench):
    nodes = {
        "zero": ("const", {"value": 0}),
        "outer": ("iterIn", {"ports": ["total"]}),
        "inner": ("iterIn", {"ports": ["n"]}),
        "step": "env__step",
        "inner_end": ("iterOut", {"loop": "inner", "ports": ["n"], "max_turns": 2}),
        "all": "collect",
        "add": "policy__step",
        "outer_end": ("iterOut", {"loop": "outer", "ports": ["total"]}),
        "out": ("graphOut", {"portName": "m"}),
        "steps": ("graphOut", {"portName": "steps"}),
    }
    edges = [
        "zero.value -> outer.init_total",
        "zero.value -> inner.init_n",
        "inner.n -> step.state",
        "step.state -> inner_end.n",
        "step.done -> inner_end.stop",
        "outer.total -> step.after",
        "step.state -> all.value",
        "all.values -> add.state",
        "add.done -> outer_end.stop",
        "add.state -> outer_end.total",
        "outer_end.final_total -> out.value",
        "outer_end.final_step -> steps.value",
    ]
    invoker = bench.invoker(
        {
            "step": count_to(9),
            "add": lambda call: {"state": sum(call.inputs["state"]), "done": call.step == 1},
        }
    )
    result = await bench.executor(bench.build(nodes, edges), invoker).run()
    turns = [call.turns for call in invoker.calls if call.path == "step"]
    assert turns == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [call.inputs for call in invoker.calls if call.path == "add"] == [{"state": [1, 2]}] * 2
    assert (result.metrics, result.steps, result.truncated) == ({"m": 3, "steps": 2}, 2, False)


async def test_a_loop_without_a_call_lets_others_run(bench):
    nodes = {
        "never": ("const", {"value": False}),
        "loop": ("iterIn", {}),
        "end": ("iterOut", {"loop": "loop", "ports": ["last"]}),
        "out": ("graphOut", {"portName": "steps"}),
    }
    edges = ["never.value -> end.stop", "loop.step -> end.last", "end.final_last -> out.value"]
    document = bench.build(nodes, edges)
    task = asyncio.ensure_future(bench.executor(document, bench.invoker({})).run())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
