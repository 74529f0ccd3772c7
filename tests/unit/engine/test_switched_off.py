"""When a loop is off as a whole: what comes from outside decides, before its first turn."""

from __future__ import annotations

import pytest

from wayfare.engine.errors import NodeFailure

NODES = {
    "maybe": "policy__maybe",
    "loop": ("iterIn", {"ports": ["state", "note"]}),
    "step": "env__step",
    "end": ("iterOut", {"loop": "loop", "ports": ["state"]}),
    "all": "collect",
    "after": "policy__need",
    "out": ("graphOut", {"portName": "state"}),
    "steps": ("graphOut", {"portName": "steps"}),
    "cut": ("graphOut", {"portName": "cut"}),
    "sum": ("graphOut", {"portName": "sum"}),
}
EDGES = [
    "maybe.y -> loop.init_state",
    "loop.state -> step.state",
    "step.state -> end.state",
    "step.done -> end.stop",
    "step.state -> all.value",
    "all.values -> after.x",
    "end.final_state -> out.value",
    "end.final_step -> steps.value",
    "end.truncated -> cut.value",
    "after.y -> sum.value",
]
ONE = ("const", {"value": 1})
ANSWERS = {
    "maybe": lambda call: {},
    "step": lambda call: {"state": 1, "done": True},
    "look": lambda call: {"y": 1},
    "after": lambda call: {"y": 1},
    "read": lambda call: {"y": 1},
}


async def run(bench, edges=(), without=(), **nodes):
    kept = [edge for edge in EDGES if edge not in without]
    document = bench.build(NODES | nodes, [*kept, *edges])
    invoker = bench.invoker(ANSWERS)
    result = await bench.executor(document, invoker).run()
    return result, invoker.paths


def assert_off(result, paths):
    assert paths == ["maybe"]
    assert result.undefined == dict.fromkeys(("state", "steps", "cut", "sum"), "not produced")
    assert (result.metrics, result.steps, result.truncated) == ({}, 0, False)


async def test_a_loop_to_whose_start_nothing_comes_is_off_with_all_that_it_gives(bench):
    assert_off(*await run(bench))


async def test_nothing_in_a_loop_fires_that_would_not_have_needed_what_is_off(bench):
    edges = ["loop.step -> look.x", "no.value -> end.stop"]
    off = await run(
        bench, edges, ["step.done -> end.stop"], look="env__go", no=("const", {"value": False})
    )
    assert_off(*off)


async def test_a_loop_that_could_not_say_stop_is_off_though_something_comes_to_it(bench):
    edges = ["one.value -> loop.init_note", "loop.note -> read.x"]
    assert_off(*await run(bench, edges, one=ONE, read="policy__need"))


async def test_a_value_that_a_loop_reads_from_outside_may_switch_it_off(bench):
    edges = ["maybe.y -> step.state", "loop.note -> step.after"]
    off = ["maybe.y -> loop.init_state", "loop.state -> step.state"]
    assert_off(*await run(bench, edges, off))


async def test_a_start_that_is_off_is_absent_in_a_loop_that_can_say_stop(bench):
    edges = ["one.value -> loop.init_note", "loop.note -> step2.state", "step2.done -> end.stop"]
    ANSWERS["step2"] = ANSWERS["step"]
    result, paths = await run(
        bench, edges, ["step.done -> end.stop"], one=ONE, step2="policy__step"
    )
    assert paths == ["maybe", "step2", "after"]
    assert result.metrics == {"steps": 1, "cut": False, "sum": 1}


async def test_what_a_loop_waits_for_by_after_does_not_switch_it_off(bench):
    edges = ["maybe.y -> loop.after", "maybe.y -> step.after", "one.value -> loop.init_state"]
    result, paths = await run(bench, edges, ["maybe.y -> loop.init_state"], one=ONE)
    assert paths == ["maybe", "step", "after"]
    assert result.metrics["steps"] == 1


async def test_stop_that_is_off_for_a_reason_within_the_loop_stays_an_error(bench):
    edges = ["one.value -> loop.init_note", "loop.step -> quiet.x", "quiet.y -> end.stop"]
    ANSWERS["quiet"] = ANSWERS["maybe"]
    with pytest.raises(NodeFailure, match=r"iterOut 'end' input 'stop' \(BOOL\) is off"):
        await run(bench, edges, ["step.done -> end.stop"], one=ONE, quiet="policy__maybe")


async def test_a_loop_without_a_first_value_that_it_needs_is_an_error(bench):
    with pytest.raises(NodeFailure, match=r"input 'stop' \(BOOL\) is off"):
        await run(bench, ["maybe.y -> loop.after"], ["maybe.y -> loop.init_state"])


async def test_a_loop_in_a_loop_is_off_in_the_turns_in_which_nothing_comes(bench):
    nodes = {
        "outer": ("iterIn", {}),
        "maybe": "policy__maybe",
        "loop": ("iterIn", {"ports": ["n"]}),
        "step": "env__step",
        "end": ("iterOut", {"loop": "loop", "ports": ["n"], "max_turns": 3}),
        "done": "policy__is_done",
        "last": ("iterOut", {"loop": "outer", "ports": ["n"]}),
        "n": ("graphOut", {"portName": "n"}),
    }
    edges = [
        "outer.step -> maybe.x",
        "maybe.y -> loop.init_n",
        "loop.n -> step.state",
        "step.state -> end.n",
        "step.done -> end.stop",
        "end.final_n -> last.n",
        "outer.step -> done.x",
        "done.done -> last.stop",
        "last.final_n -> n.value",
    ]
    answers = {
        "maybe": lambda call: {"y": 10} if call.step == 1 else {},
        "step": lambda call: {"state": call.inputs["state"] + 1, "done": False},
        "done": lambda call: {"done": call.step == 2},
    }
    invoker = bench.invoker(answers)
    result = await bench.executor(bench.build(nodes, edges), invoker).run()
    assert (result.metrics, result.steps) == ({"n": 13}, 3)
    turns = [call.turns for call in invoker.calls if call.path == "step"]
    assert turns == [(1, 0), (1, 1), (1, 2)]
