"""How one episode's graph runs: values, switches, results, order and failures."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from tests.deadline import HANG_SECONDS

from nodeset.digest import hash64
from nodeset.errors import AuthorError, PortError
from wayfare.engine.errors import NodeFailure, RuleError
from wayfare.graph.calls import InfrastructureError


def give(**outputs):
    return lambda call: outputs


def two_tools(bench, **kinds):
    nodes = {
        "a": "env__go",
        "b": "env__go",
        "join": "policy__step",
        "out": ("graphOut", {"portName": "m"}),
    }
    edges = ["a.y -> join.state", "b.y -> join.after", "join.done -> out.value"]
    return bench.build(nodes | kinds, edges)


async def test_a_tools_output_becomes_a_metric(bench):
    nodes = {"a": "env__go", "out": ("graphOut", {"portName": "score"})}
    result = await bench.run(bench.build(nodes, ["a.y -> out.value"]), {"a": give(y=2.5)})
    assert (result.metrics, result.undefined, result.steps) == ({"score": 2.5}, {}, 0)
    assert result.firings == [("a", ())]


async def test_the_episode_node_gives_the_episodes_fields(bench):
    nodes = {"e": "episode", "a": "env__go", "out": ("graphOut", {"portName": "m"})}
    invoker = bench.invoker({"a": give(y=1)})
    document = bench.build(nodes, ["e.episode_id -> a.x", "a.y -> out.value"])
    await bench.executor(document, invoker).run()
    assert invoker.calls[0].inputs == {"x": "e3"}


async def test_a_calls_seed_is_a_hash_of_episode_seed_path_and_turns(bench):
    nodes = {"a": "env__go", "out": ("graphOut", {"portName": "m"})}
    invoker = bench.invoker({"a": give(y=1)})
    await bench.executor(bench.build(nodes, ["a.y -> out.value"]), invoker, seed=11).run()
    assert invoker.calls[0].seed == hash64(11, "a", ())


async def test_ready_tools_are_called_at_the_same_time(bench):
    invoker = bench.invoker(
        {"a": give(y=1), "b": give(y=1), "join": give(state=0, done=True)}, {"a", "b"}
    )
    task = asyncio.ensure_future(bench.executor(two_tools(bench), invoker).run())
    await invoker.wait_for("a")
    await invoker.wait_for("b")
    assert invoker.most_running == 2
    invoker.release("b")
    invoker.release("a")
    assert (await asyncio.wait_for(task, HANG_SECONDS)).metrics == {"m": True}


async def test_calls_to_an_ordered_nodeset_go_out_one_after_another(bench):
    invoker = bench.invoker({"a": give(y=1), "b": give(y=1), "join": give(state=0, done=True)})
    await bench.executor(two_tools(bench), invoker, ordered={"env"}).run()
    assert invoker.paths == ["a", "b", "join"]
    assert invoker.most_running == 1


async def test_two_ordered_nodesets_do_not_wait_for_each_other(bench):
    invoker = bench.invoker({"a": give(y=1), "b": give(y=1), "join": give(state=0, done=True)})
    document = two_tools(bench, b="arm__go")
    await bench.executor(document, invoker, ordered={"env", "arm"}).run()
    assert invoker.most_running == 2


async def test_a_call_waits_for_an_earlier_one_of_its_copy_that_is_not_ready_yet(bench):
    nodes = {
        "slow": "policy__go",
        "first": "env__need",
        "second": "env__go",
        "out": ("graphOut", {"portName": "m"}),
        "other": ("graphOut", {"portName": "n"}),
        "start": ("const", {"value": 1}),
    }
    edges = [
        "slow.y -> first.x",
        "first.y -> out.value",
        "start.value -> second.x",
        "second.y -> other.value",
    ]
    invoker = bench.invoker({"slow": give(y=1), "first": give(y=1), "second": give(y=2)}, {"slow"})
    executor = bench.executor(bench.build(nodes, edges), invoker, ordered={"env"})
    task = asyncio.ensure_future(executor.run())
    await invoker.wait_for("slow")
    for _ in range(10):
        await asyncio.sleep(0)
    assert invoker.paths == ["slow"]
    invoker.release("slow")
    await asyncio.wait_for(task, HANG_SECONDS)
    assert invoker.paths == ["slow", "first", "second"]


async def test_the_result_is_the_same_in_any_finishing_order(bench):
    nodes = dict.fromkeys("abc", "env__go") | {
        f"out_{name}": ("graphOut", {"portName": name}) for name in "abc"
    }
    document = bench.build(nodes, [f"{name}.y -> out_{name}.value" for name in "abc"])
    results = []
    for order in itertools.permutations("abc"):
        invoker = bench.invoker({name: give(y=ord(name)) for name in "abc"}, set("abc"))
        task = asyncio.ensure_future(bench.executor(document, invoker).run())
        for name in order:
            await invoker.wait_for(name)
            invoker.release(name)
            await invoker.wait_for_end(name)
        results.append(await asyncio.wait_for(task, HANG_SECONDS))
    assert all(result == results[0] for result in results)


def branches(bench, condition):
    nodes = {
        "c": ("const", {"value": condition}),
        "v": ("const", {"value": 5}),
        "s": "switch",
        "yes": "env__need",
        "no": "env__need",
        "m": ("merge", {"ports": ["p", "q"]}),
        "out": ("graphOut", {"portName": "m"}),
        "yes_out": ("graphOut", {"portName": "yes"}),
    }
    edges = [
        "c.value -> s.condition",
        "v.value -> s.value",
        "s.true -> yes.x",
        "s.false -> no.x",
        "yes.y -> m.p",
        "no.y -> m.q",
        "m.value -> out.value",
        "yes.y -> yes_out.value",
    ]
    return bench.build(nodes, edges)


async def test_a_switch_lets_one_branch_run_and_a_merge_takes_what_came(bench):
    invoker = bench.invoker({"yes": give(y=1), "no": give(y=2)})
    result = await bench.executor(branches(bench, condition=False), invoker).run()
    assert invoker.paths == ["no"]
    assert result.metrics == {"m": 2}
    assert result.undefined == {"yes": "not produced"}


async def test_two_values_at_a_merge_are_an_error_that_names_the_ports(bench):
    nodes = {
        "a": ("const", {"value": 1}),
        "m": ("merge", {"ports": ["p", "q"]}),
        "out": ("graphOut", {"portName": "m"}),
    }
    document = bench.build(nodes, ["a.value -> m.p", "a.value -> m.q", "m.value -> out.value"])
    with pytest.raises(NodeFailure, match="merge 'm' got values at 'p' and 'q'") as caught:
        await bench.run(document, {})
    assert isinstance(caught.value.error, RuleError)


async def test_a_condition_that_is_no_boolean_is_an_error(bench):
    nodes = {
        "a": "env__go",
        "s": "switch",
        "out": ("graphOut", {"portName": "m"}),
    }
    edges = ["a.y -> s.value", "a.y -> s.condition", "s.true -> out.value"]
    with pytest.raises(NodeFailure, match=r"switch 's' input 'condition' .BOOL.: got"):
        await bench.run(bench.build(nodes, edges), {"a": give(y=1)})


async def test_a_merge_to_which_nothing_comes_is_off(bench):
    nodes = {"a": "env__maybe", "m": ("merge", {"ports": ["p"]}), "b": "env__need"} | {
        "out": ("graphOut", {"portName": "m"})
    }
    document = bench.build(nodes, ["a.y -> m.p", "m.value -> b.x", "b.y -> out.value"])
    result = await bench.run(document, {"a": give()})
    assert result.undefined == {"m": "not produced"}


async def test_an_optional_input_that_is_off_is_absent(bench):
    nodes = {"a": "env__maybe", "b": "env__go", "out": ("graphOut", {"portName": "m"})}
    invoker = bench.invoker({"a": give(), "b": give(y=3)})
    document = bench.build(nodes, ["a.y -> b.x", "b.y -> out.value"])
    result = await bench.executor(document, invoker).run()
    assert invoker.calls[1].inputs == {}
    assert result.metrics == {"m": 3}


async def test_after_orders_but_carries_nothing_and_off_does_not_switch_off(bench):
    nodes = {"a": "env__maybe", "b": "policy__go", "out": ("graphOut", {"portName": "m"})}
    invoker = bench.invoker({"a": give(), "b": give(y=3)})
    document = bench.build(nodes, ["a.y -> b.after", "b.y -> out.value"])
    await bench.executor(document, invoker).run()
    assert (invoker.paths, invoker.calls[1].inputs) == (["a", "b"], {})


async def test_a_missing_output_is_an_error_that_names_tool_and_port(bench):
    nodes = {"a": "env__go", "out": ("graphOut", {"portName": "m"})}
    document = bench.build(nodes, ["a.y -> out.value"])
    with pytest.raises(NodeFailure, match="env__go output 'y' is missing") as caught:
        await bench.run(document, {"a": give(z=1)})
    assert isinstance(caught.value.error, PortError)


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
async def test_the_first_failure_in_document_order_is_raised(bench, order):
    answers = {"a": lambda call: AuthorError("a broke"), "b": lambda call: AuthorError("b broke")}
    invoker = bench.invoker(answers, {"a", "b"})
    task = asyncio.ensure_future(bench.executor(two_tools(bench), invoker).run())
    for name in order:
        await invoker.wait_for(name)
        invoker.release(name)
    with pytest.raises(NodeFailure, match="a broke") as caught:
        await asyncio.wait_for(task, HANG_SECONDS)
    assert (caught.value.path, caught.value.turns) == ("a", ())


async def test_what_does_not_depend_on_a_failed_node_still_fires(bench):
    nodes = {
        "bad": "env__go",
        "dependent": "env__need",
        "good": "env__go",
        "later": "env__need",
        "out": ("graphOut", {"portName": "m"}),
        "out2": ("graphOut", {"portName": "n"}),
    }
    edges = [
        "bad.y -> dependent.x",
        "dependent.y -> out.value",
        "good.y -> later.x",
        "later.y -> out2.value",
    ]
    invoker = bench.invoker(
        {"bad": lambda call: AuthorError("broke"), "good": give(y=1), "later": give(y=1)}
    )
    with pytest.raises(NodeFailure, match="broke"):
        await bench.executor(bench.build(nodes, edges), invoker).run()
    assert invoker.paths == ["bad", "good", "later"]


async def test_an_infrastructure_error_ends_at_once_and_cancels_what_is_in_flight(bench):
    answers = {"a": lambda call: InfrastructureError("copy died"), "b": give(y=1)}
    invoker = bench.invoker(answers, {"b"})
    with pytest.raises(InfrastructureError, match="copy died"):
        await asyncio.wait_for(bench.executor(two_tools(bench), invoker).run(), HANG_SECONDS)
    assert invoker.cancelled == ["b"]
    assert not invoker.running


async def test_cancellation_cancels_the_calls_and_waits_for_them(bench):
    invoker = bench.invoker({"a": give(y=1), "b": give(y=1)}, {"a", "b"})
    task = asyncio.ensure_future(bench.executor(two_tools(bench), invoker).run())
    await invoker.wait_for("b")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(invoker.cancelled) == ["a", "b"]


async def test_a_step_budget_below_one_is_the_episodes_error(bench):
    document = two_tools(bench)
    with pytest.raises(NodeFailure, match="step budget is 0; it must be at least 1"):
        await bench.run(document, {}, step_budget=0)
