"""How maps run: a graph per item, at the same time, with the results in the order of the items."""

from __future__ import annotations

import asyncio

import pytest
from tests.deadline import HANG_SECONDS

from nodeset.digest import hash64
from nodeset.errors import AuthorError, PortError
from wayfare.engine.errors import NodeFailure

INNER = {
    "item": ("graphIn", {"portName": "item"}),
    "look": "policy__need",
    "y": ("graphOut", {"portName": "y"}),
}
EDGES = ["item.value -> look.x", "look.y -> y.value"]


def mapping(bench, items, inner=None, *, edges=(), more=None):
    """Build a map over a constant list, whose list `y` a tool then judges."""
    graph = inner or bench.build(INNER, EDGES)
    nodes = {
        "items": ("const", {"value": items}),
        "m": ("map", {"graph": graph.to_json()}),
        "judge": "policy__need",
        "out": ("graphOut", {"portName": "m"}),
    }
    own = ["items.value -> m.items", "m.y -> judge.x", "judge.y -> out.value"]
    return bench.build(nodes | (more or {}), [*own, *edges])


def looking(**more):
    return {
        "m/look": lambda call: {"y": call.inputs["x"] * 10},
        "judge": lambda call: {"y": sum(call.inputs["x"])},
    } | more


async def test_lists_come_in_the_order_of_the_items_whatever_finished_first(bench):
    invoker = bench.invoker(looking(), {"m/look"})
    task = asyncio.ensure_future(bench.executor(mapping(bench, [3, 1, 2]), invoker).run())
    await invoker.wait_for("m/look")
    assert len(invoker.calls) == 3
    invoker.release("m/look")
    assert (await asyncio.wait_for(task, HANG_SECONDS)).metrics == {"m": 60}
    assert invoker.calls[3].inputs == {"x": [30, 10, 20]}


async def test_the_item_counts_as_a_turn_and_the_step_stays_that_of_the_loop(bench):
    invoker = bench.invoker(looking())
    await bench.executor(mapping(bench, [5, 6]), invoker, seed=11).run()
    looks = [call for call in invoker.calls if call.path == "m/look"]
    assert [(call.turns, call.step) for call in looks] == [((0,), 0), ((1,), 0)]
    assert [call.seed for call in looks] == [hash64(11, "m/look", (n,)) for n in (0, 1)]


async def test_an_empty_list_gives_empty_lists(bench):
    invoker = bench.invoker(looking())
    result = await bench.executor(mapping(bench, []), invoker).run()
    assert (result.metrics, invoker.paths) == ({"m": 0}, ["judge"])


async def test_items_call_a_copy_one_after_another_in_their_order(bench):
    inner = bench.build(
        {**INNER, "look": "env__need", "then": "env__need", "think": "policy__need"},
        ["item.value -> think.x", "think.y -> look.x", "look.y -> then.x", "then.y -> y.value"],
    )
    answers = {name: lambda call: {"y": call.inputs["x"]} for name in ("m/look", "m/then")}
    invoker = bench.invoker(looking(**answers), {"m/think"})
    invoker.answers["m/think"] = invoker.answers["m/look"]
    document = mapping(bench, [7, 8], inner)
    task = asyncio.ensure_future(bench.executor(document, invoker, ordered={"env"}).run())
    await invoker.wait_for("m/think")
    assert invoker.paths == ["m/think", "m/think"]
    invoker.release("m/think")
    await asyncio.wait_for(task, HANG_SECONDS)
    sent = [(call.path, call.turns) for call in invoker.calls if call.nodeset == "env"]
    assert sent == [("m/look", (0,)), ("m/then", (0,)), ("m/look", (1,)), ("m/then", (1,))]


async def test_other_inputs_are_the_same_for_every_item(bench):
    inner = bench.build(
        {
            **INNER,
            "goal": ("graphIn", {"portName": "goal"}),
            "look": "policy__step",
            "hint": ("graphIn", {"portName": "hint", "optional": True}),
            "seen": "policy__go",
        },
        [
            "goal.value -> look.state",
            "look.state -> y.value",
            "item.value -> look.after",
            "hint.value -> seen.x",
            "item.value -> seen.after",
        ],
    )
    more = {"goal": ("const", {"value": "door"})}
    document = mapping(bench, [1, 2], inner, edges=["goal.value -> m.goal"], more=more)
    answers = {
        "m/look": lambda call: {"state": 1, "done": True},
        "m/seen": lambda call: {"y": 0},
    }
    invoker = bench.invoker(looking(**answers))
    await bench.executor(document, invoker).run()
    inputs = {call.path: call.inputs for call in invoker.calls}
    assert inputs["m/look"] == {"state": "door"}
    assert inputs["m/seen"] == {}


async def test_items_whose_output_is_off_are_left_out(bench):
    inner = bench.build({**INNER, "look": "policy__maybe"}, EDGES)
    answers = {"m/look": lambda call: {"y": call.inputs["x"]} if call.inputs["x"] > 1 else {}}
    invoker = bench.invoker(looking(**answers))
    await bench.executor(mapping(bench, [3, 1, 2], inner), invoker).run()
    assert invoker.calls[-1].inputs == {"x": [3, 2]}


async def test_a_map_to_which_no_list_comes_is_off(bench):
    document = bench.build(
        {
            "maybe": "policy__maybe",
            "m": ("map", {"graph": bench.build(INNER, EDGES).to_json()}),
            "out": ("graphOut", {"portName": "n"}),
            "count": "policy__need",
        },
        ["maybe.y -> m.items", "m.y -> count.x", "count.y -> out.value"],
    )
    result = await bench.run(document, {"maybe": lambda call: {}})
    assert result.undefined == {"n": "not produced"}


async def test_what_is_no_list_is_an_error_of_the_map(bench):
    document = bench.build(
        {
            "one": "policy__go",
            "m": ("map", {"graph": bench.build(INNER, EDGES).to_json()}),
            "count": "policy__need",
            "out": ("graphOut", {"portName": "n"}),
        },
        ["one.y -> m.items", "m.y -> count.x", "count.y -> out.value"],
    )
    with pytest.raises(NodeFailure, match=r"map 'm' input 'items' .*got .*due a list") as caught:
        await bench.run(document, {"one": lambda call: {"y": 3}})
    assert (caught.value.path, type(caught.value.error)) == ("m", PortError)


@pytest.mark.parametrize("held", [set(), {"m/look"}])
async def test_the_first_item_that_failed_stands_for_the_map(bench, held):
    def look(call):
        return AuthorError(f"broke at {call.inputs['x']}") if call.inputs["x"] else {"y": 1}

    invoker = bench.invoker(looking(**{"m/look": look}), held)
    task = asyncio.ensure_future(bench.executor(mapping(bench, [0, 1, 2]), invoker).run())
    await invoker.wait_for("m/look")
    invoker.release("m/look")
    with pytest.raises(NodeFailure, match="node 'm/look' in turn 1: broke at 1") as caught:
        await asyncio.wait_for(task, HANG_SECONDS)
    assert (caught.value.path, caught.value.turns) == ("m/look", (1,))
    assert invoker.paths == ["m/look"] * 3


async def test_maps_in_maps_in_loops_have_the_turns_of_all(bench):
    inner = bench.build(INNER, EDGES)
    middle = bench.build(
        {
            "item": ("graphIn", {"portName": "item"}),
            "m": ("map", {"graph": inner.to_json()}),
            "y": ("graphOut", {"portName": "y"}),
        },
        ["item.value -> m.items", "m.y -> y.value"],
    )
    document = bench.build(
        {
            "grid": ("const", {"value": [[1, 2], [], [3]]}),
            "loop": ("iterIn", {"ports": ["grid"]}),
            "m": ("map", {"graph": middle.to_json()}),
            "judge": "policy__step",
            "end": ("iterOut", {"loop": "loop"}),
            "out": ("graphOut", {"portName": "n"}),
        },
        [
            "grid.value -> loop.init_grid",
            "loop.grid -> m.items",
            "m.y -> judge.state",
            "judge.done -> end.stop",
            "end.final_step -> out.value",
        ],
    )
    invoker = bench.invoker(
        {
            "m/m/look": lambda call: {"y": call.inputs["x"]},
            "judge": lambda call: {"state": 0, "done": call.step == 1},
        }
    )
    await bench.executor(document, invoker).run()
    looks = [(call.turns, call.step) for call in invoker.calls if call.path == "m/m/look"]
    first = [((0, 0, 0), 0), ((0, 0, 1), 0), ((0, 2, 0), 0)]
    assert looks == first + [((1, *turns[1:]), 1) for turns, _ in first]
    judged = [call.inputs["state"] for call in invoker.calls if call.path == "judge"]
    assert judged == [[[1, 2], [], [3]]] * 2


async def test_a_loop_in_a_map_counts_for_no_step_budget(bench):
    inner = bench.build(
        {
            "item": ("graphIn", {"portName": "item"}),
            "loop": ("iterIn", {"ports": ["n"]}),
            "step": "policy__step",
            "end": ("iterOut", {"loop": "loop", "ports": ["n"], "max_turns": 3}),
            "y": ("graphOut", {"portName": "y"}),
        },
        [
            "item.value -> loop.init_n",
            "loop.n -> step.state",
            "step.state -> end.n",
            "step.done -> end.stop",
            "end.final_n -> y.value",
        ],
    )
    answers = {"m/step": lambda call: {"state": call.inputs["state"] + 1, "done": False}}
    invoker = bench.invoker(looking(**answers))
    executor = bench.executor(mapping(bench, [0, 10], inner), invoker, step_budget=1)
    result = await executor.run()
    assert (result.metrics, result.steps, result.truncated) == ({"m": 16}, 0, False)
    turns = {call.turns for call in invoker.calls if call.path == "m/step"}
    assert turns == {(item, turn) for item in (0, 1) for turn in (0, 1, 2)}


async def test_cancellation_cancels_the_calls_of_all_items(bench):
    invoker = bench.invoker(looking(), {"m/look"})
    task = asyncio.ensure_future(bench.executor(mapping(bench, [1, 2]), invoker).run())
    await invoker.wait_for("m/look")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert invoker.cancelled == ["m/look", "m/look"]
