"""How a copy answers calls of its tools, driven on one thread."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest
from tests.deadline import HANG_SECONDS

from nodeset import wire
from nodeset.digest import digest_firing
from nodeset.errors import WireError
from nodeset.host.app import ASYNC_CLOSE_SECONDS


def plus(x, ctx):
    return x + 1


def test_a_call_returns_the_outputs_of_its_tool(make_copy, make_tool):
    reply = make_copy(make_tool("plus", plus)).call("plus", 4, path="a", turns=[0], step=0, seed=1)
    assert reply["ok"] == {"outputs": {"y": 5}, "logs": [], "digests": []}


def test_the_context_carries_configuration_episode_turns_seed_and_logs(make_copy, make_tool):
    seen = []

    def look(x, ctx):
        ctx.log("x", np.int64(x))
        seen.append((ctx.config, ctx.episode.id, ctx.step, ctx.turns, ctx.seed))
        return

    copy = make_copy(make_tool("look", look, default_config={"a": 1, "b": 2}))
    copy.ask("open_episode", episode={"index": 3, "id": "three"})
    reply = copy.call("look", 7, config={"b": 5}, step=2, turns=[2, 4], seed=9)
    assert seen == [({"a": 1, "b": 5}, "three", 2, (2, 4), 9)]
    assert reply["ok"]["logs"] == [["x", 7]]


def test_nothing_that_one_call_does_to_its_configuration_reaches_the_next(make_copy, make_tool):
    def count(x, ctx):
        ctx.config["n"] += 1
        return ctx.config["n"]

    copy = make_copy(make_tool("count", count, default_config={"n": 0}))
    assert [copy.call("count")["ok"]["outputs"]["y"] for _ in range(2)] == [1, 1]


def test_the_digest_of_a_call_comes_with_the_next_reply_or_at_the_end_of_the_episode(
    make_copy, make_tool
):
    copy = make_copy(make_tool("plus", plus))
    copy.ask("open_episode", episode={"index": 0, "id": "0"})
    first = copy.call("plus", 1, path="a", turns=[0])
    second = copy.call("plus", 2, path="a", turns=[1])
    rest = copy.ask("close_episode")
    assert first["ok"]["digests"] == []
    assert second["ok"]["digests"] == [[first["id"], digest_firing("a", [0], {"y": 2})]]
    assert rest["ok"]["digests"] == [[second["id"], digest_firing("a", [1], {"y": 3})]]


def test_a_digest_is_of_what_was_sent_though_the_author_reuses_the_array(make_copy, make_tool):
    shared = np.zeros(3)

    def fill(x, ctx):
        shared[:] = x
        return shared

    copy = make_copy(make_tool("fill", fill))
    first = copy.call("fill", 1, path="a")
    second = copy.call("fill", 2, path="a")
    assert second["ok"]["digests"] == [[first["id"], digest_firing("a", [], {"y": np.ones(3)})]]


def test_a_volatile_output_is_in_no_digest(make_copy, make_tool):
    copy = make_copy(make_tool("one", lambda x, ctx: 1, extra={"time": 7}))
    call = copy.call("one", path="a")
    assert call["ok"]["outputs"] == {"y": 1, "time": 7}
    assert copy.ask("close_episode")["ok"]["digests"] == [
        [call["id"], digest_firing("a", [], {"y": 1})]
    ]


def test_an_exception_of_the_author_arrives_with_the_authors_traceback_alone(make_copy, make_tool):
    error = make_copy(make_tool("fail", lambda x, ctx: 1 // x)).call("fail", 0)["error"]
    assert (error["kind"], error["type"]) == ("author", "ZeroDivisionError")
    assert error["message"].startswith("line__fail.forward raised ZeroDivisionError")
    assert "test_app.py" in error["traceback"]
    assert "host/calls.py" not in error["traceback"]
    assert "author.py" not in error["traceback"]


def test_a_tool_that_exits_is_an_error_of_the_author(make_copy, make_tool):
    copy = make_copy(make_tool("leave", lambda x, ctx: exit(3)), make_tool("plus", plus))
    assert copy.call("leave")["error"]["type"] == "SystemExit"
    assert copy.call("plus", 1)["ok"]["outputs"] == {"y": 2}


def test_a_log_that_is_no_passive_data_is_that_calls_error(make_copy, make_tool):
    error = make_copy(make_tool("log", lambda x, ctx: ctx.log("k", object()))).call("log")["error"]
    assert error["kind"] == "port"
    assert "line__log ctx.log" in error["message"]


@pytest.mark.parametrize(
    ("fields", "kind", "message"),
    [
        ({"op": "call", "tool": "minus", "inputs": {}}, "unknown_tool", "the tools are: plus"),
        ({"op": "call", "tool": 3, "inputs": {}}, "wire", "tool=int 3; it must be text"),
        ({"op": "call", "tool": "plus"}, "wire", "inputs=NoneType None; it must be a map"),
        ({"op": "call", "tool": "plus", "inputs": {}, "turns": ["a"]}, "wire", "turns"),
        ({"op": "call", "tool": "plus", "inputs": {}, "seed": -1}, "wire", "seed"),
        ({"op": "call", "tool": "plus", "inputs": {}}, "port", "the port is required"),
        ({"op": "call", "tool": "plus", "inputs": {"x": 1, "z": 1}}, "port", "no such port"),
        ({"op": "jump"}, "wire", "op=str 'jump'"),
        ({"op": ["call"]}, "wire", "op=list"),
        ({"op": np.ones(3)}, "wire", "op=ndarray"),
        ({"op": "call", "tool": np.ones(3), "inputs": {}}, "wire", "tool=ndarray"),
        ({"op": "open_episode", "episode": {"number": 1}}, "wire", "episode"),
        ({"op": "open_episode", "episode": {"index": "1", "id": "a"}}, "wire", "index=str '1'"),
        ({"op": "cancel"}, "wire", "target=NoneType None"),
        ({"op": "begin_episode"}, "nodeset", "open_episode first"),
        ({"op": "controller", "verb": "on_load"}, "nodeset", "has no controller"),
        ({"op": "episodes", "split": "train"}, "contract", "no split"),
    ],
)
def test_a_request_that_cannot_be_served_is_answered_with_the_reason(
    make_copy, make_tool, fields, kind, message
):
    error = make_copy(make_tool("plus", plus)).ask(**fields)["error"]
    assert error["kind"] == kind
    assert message in error["message"]


def test_a_request_without_an_id_cannot_be_answered(make_copy, make_tool):
    copy = make_copy(make_tool("plus", plus))
    with pytest.raises(WireError, match="id=NoneType None"):
        copy.app.submit(copy.caller, {"op": "health"}, lambda message: None)


def test_async_calls_of_a_shared_nodeset_run_side_by_side(make_copy, make_tool):
    here, everybody = [], []

    async def meet(x, ctx):
        here.append(x)
        everybody.append(everybody[0] if everybody else asyncio.Event())
        if len(here) == 3:
            everybody[0].set()
        await asyncio.wait_for(everybody[0].wait(), HANG_SECONDS)
        return x

    copy = make_copy(make_tool("meet", meet))
    ids = [copy.submit("call", tool="meet", inputs={"x": x}) for x in range(3)]
    copy.app.run_pending()
    assert [copy.replies[i]["ok"]["outputs"]["y"] for i in ids] == [0, 1, 2]


def test_async_calls_of_a_replicated_nodeset_run_one_by_one(make_copy, make_tool):
    running = []

    async def run_alone(x, ctx):
        running.append(x)
        await asyncio.sleep(0)
        assert running.pop() == x

    copy = make_copy(make_tool("alone", run_alone), parallelism="replicated")
    ids = [copy.submit("call", tool="alone", inputs={"x": x}) for x in range(3)]
    copy.app.run_pending()
    assert all("ok" in copy.replies[i] for i in ids)


def test_a_cancelled_call_is_answered_and_not_run(make_copy, make_tool):
    ran = []
    copy = make_copy(make_tool("run", lambda x, ctx: ran.append(x)))
    target = copy.submit("call", tool="run", inputs={"x": 1})
    copy.submit("cancel", target=target)
    copy.app.run_pending()
    assert "was cancelled" in copy.replies[target]["error"]["message"]
    assert ran == []


def test_the_waiting_calls_of_a_caller_that_left_are_not_run(make_copy, make_tool):
    ran = []
    copy = make_copy(make_tool("run", lambda x, ctx: ran.append(x)))
    other = copy.app.connect()
    copy.submit("call", other, tool="run", inputs={"x": 1})
    copy.submit("call", tool="run", inputs={"x": 2})
    copy.app.disconnect(other)
    copy.app.run_pending()
    assert ran == [2]


def test_calls_that_travel_together_are_queued_together(make_copy, make_tool):
    sizes = []

    def note_size(x, ctx):
        sizes.append(len(x))
        return x

    copy = make_copy(make_tool("sizes", note_size, batched=True, batch_dim="x"))
    ids = [copy.submit("call", tool="sizes", inputs={"x": x}, more=x < 2) for x in range(3)]
    copy.app.run_pending()
    assert sizes == [3]
    assert [copy.replies[i]["ok"]["outputs"]["y"] for i in ids] == [0, 1, 2]


def test_a_group_that_another_request_interrupts_is_queued_as_it_is(make_copy, make_tool):
    copy = make_copy(make_tool("plus", plus))
    call = copy.submit("call", tool="plus", inputs={"x": 1}, more=True)
    copy.submit("health")
    copy.ask("begin_episode")
    assert copy.replies[call]["ok"]["outputs"] == {"y": 2}


def test_an_async_call_that_never_ends_does_not_hold_up_the_end(make_tool, make_copy):
    started, times, cancelled = threading.Event(), [0.0], []

    async def linger(x, ctx):
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(times[-1])

    tool = make_tool("linger", linger)
    copy = make_copy(tool, is_initialized=False, clock=lambda: times[-1])
    ready = threading.Event()
    copy.app.submit(copy.caller, {"id": 0, "op": "initialize"}, lambda _: ready.set())
    running = threading.Thread(target=copy.app.run, daemon=True)
    running.start()
    assert ready.wait(HANG_SECONDS)
    call_id = copy.submit("call", tool="linger", inputs={"x": 0})
    assert started.wait(HANG_SECONDS)
    copy.app.close()
    for now in (ASYNC_CLOSE_SECONDS - 0.1, ASYNC_CLOSE_SECONDS):
        times.append(now)
        copy.app.bell.ring()
    running.join(HANG_SECONDS)
    assert not running.is_alive()
    assert copy.replies[call_id]["error"]["type"] == "CancelledCallError"
    assert set(cancelled) <= {ASYNC_CLOSE_SECONDS}


def test_an_output_of_too_many_lists_is_refused_with_tool_and_port(
    make_copy, make_tool, monkeypatch
):
    monkeypatch.setattr(wire, "_MAX_CONTAINERS", 100)
    replies = []

    def send(message):
        wire.encode(message)
        replies.append(message)

    copy = make_copy(make_tool("many", lambda x, ctx: [[]] * x))
    request = {"op": "call", "tool": "many"}
    for number, count in ((91, 101), (92, 5)):
        copy.app.submit(copy.caller, {**request, "id": number, "inputs": {"x": count}}, send)
    copy.app.run_pending()
    told = "line__many output 'y' (ANY): a message holds more than 100 lists and dicts"
    assert replies[0]["error"]["message"] == told
    assert replies[1]["ok"]["outputs"] == {"y": [[]] * 5}
