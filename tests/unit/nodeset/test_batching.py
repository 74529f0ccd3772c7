"""When waiting calls become a batch: the rules of the queue, under a clock that the test moves."""

from __future__ import annotations

from typing import Any

import pytest

from nodeset.batching import BatchedInferenceServer, BatchSettings, hash_config
from nodeset.caller import Call, Caller
from nodeset.contract import BaseCanvasNode
from nodeset.ports import PortDef

GAP, TIMEOUT = 0.001, 0.050


class Clock:
    def __init__(self):
        self.now: Any = 100.0

    def __call__(self):
        return self.now


class Double(BaseCanvasNode):
    node_type = "line__double"
    input_ports = [PortDef("x", "INT")]
    output_ports = [PortDef("y", "INT")]
    batched = True
    batch_dim = "x"
    default_config = {"k": 2}

    def forward(self, inputs, ctx):
        return {"y": [ctx.config["k"] * x for x in inputs["x"]]}


class Queues:
    """A server of two tools and the callers of a test."""

    def __init__(self, row_limit=0, **attributes):
        self.clock = Clock()
        tool = Double()
        for name, value in attributes.items():
            setattr(tool, name, value)
        self.server = BatchedInferenceServer(
            {"double": tool, "other": tool},
            lambda tool, inputs, ctx: tool.forward(inputs, ctx),
            self.clock,
            row_limit=row_limit,
            settings=BatchSettings(TIMEOUT, GAP),
        )
        self.answers = []
        self.server.note_free()

    def call(self, caller, x=0, tool="double", config=None):
        def answer(call, outcome, logs):
            caller.waiting -= 1
            self.answers.append((call.id, outcome))

        config = {"k": 2} if config is None else config
        return Call(
            caller, id=x, tool=tool, path="n", config=config, inputs={"x": x}, answer=answer
        )

    def submit(self, *calls):
        for call in calls:
            call.caller.waiting += 1
        self.server.submit(calls)

    def serve(self):
        """Serve what is due; return (reason, ids), or None."""
        flush = self.server.take_flush()
        if flush is None:
            return None
        self.server.serve(flush)
        self.server.note_free()
        return flush.reason, [call.id for call in flush.calls]

    def open_callers(self, count, pause=1.0):
        """Return callers that called `double` once, `pause` seconds ago, and wait nowhere."""
        callers = [Caller(worker) for worker in range(count)]
        for caller in callers:
            caller.has_open_episode = True
            self.submit(self.call(caller, -1))
        while self.serve():
            pass
        assert all(caller.waiting == 0 for caller in callers)
        self.clock.now += pause
        self.server.note_free()
        self.answers.clear()
        return callers


def test_a_lone_caller_never_waits():
    queues = Queues()
    (caller,) = queues.open_callers(1)
    for x in range(3):
        queues.submit(queues.call(caller, x))
        assert queues.serve() == ("all_waiting", [x])


def test_a_caller_without_an_episode_waits_for_nobody():
    queues = Queues()
    queues.submit(queues.call(Caller(), 5))
    assert queues.serve() == ("all_waiting", [5])


def test_the_batch_leaves_when_all_due_callers_wait():
    queues = Queues()
    a, b, c = queues.open_callers(3)
    queues.submit(queues.call(a, 1))
    queues.submit(queues.call(b, 2))
    assert queues.serve() is None
    queues.submit(queues.call(c, 3))
    assert queues.serve() == ("all_waiting", [1, 2, 3])
    assert queues.answers == [(1, {"y": 2}), (2, {"y": 4}), (3, {"y": 6})]


def test_a_caller_that_has_not_called_in_this_episode_is_not_due():
    queues = Queues()
    a, b = queues.open_callers(2)
    queues.server.close_episode(b)
    queues.submit(queues.call(a, 1))
    assert queues.serve() == ("all_waiting", [1])


def test_a_caller_that_waits_at_another_key_is_not_due():
    queues = Queues()
    a, b = queues.open_callers(2)
    queues.submit(queues.call(a, 1))
    assert not queues.server.is_due()
    queues.submit(queues.call(b, 2, tool="other"))
    assert queues.serve() == ("all_waiting", [1])


def test_a_gap_without_a_new_row_ends_the_wait():
    queues = Queues()
    a, b, _ = queues.open_callers(3)
    queues.submit(queues.call(a, 1))
    queues.clock.now += 0.9 * GAP
    queues.submit(queues.call(b, 2))
    queues.clock.now += 0.9 * GAP
    assert queues.serve() is None
    queues.clock.now = queues.server.next_wakeup()
    assert queues.serve() == ("gap", [1, 2])


def test_the_gap_begins_when_the_handler_becomes_free():
    queues = Queues()
    a, _ = queues.open_callers(2)
    queues.submit(queues.call(a, 1))
    queues.clock.now += 10 * GAP
    queues.server.note_free()
    assert queues.serve() is None
    assert queues.server.next_wakeup() == pytest.approx(queues.clock.now + GAP)


def test_steady_arrivals_do_not_postpone_the_flush():
    queues = Queues()
    callers = queues.open_callers(100)
    started, reason, ids = queues.clock.now, None, []
    for x, caller in enumerate(callers):
        queues.submit(queues.call(caller, x))
        served = queues.serve()
        if served:
            reason, ids = served
            break
        queues.clock.now += 0.9 * GAP
    assert reason == "timeout"
    assert TIMEOUT <= queues.clock.now - started < TIMEOUT + GAP
    assert ids == list(range(len(ids)))


def test_the_timeout_counts_from_the_first_row():
    queues = Queues()
    a, _ = queues.open_callers(2)
    queues.submit(queues.call(a, 1))
    for _ in range(60):  # another key keeps the handler busy, so the gap begins anew each time
        queues.clock.now += 0.9 * GAP
        queues.server.note_free()
    assert queues.serve() == ("timeout", [1])


def test_callers_of_a_slow_batch_get_one_gap_to_join_those_that_came_meanwhile():
    queues = Queues()
    a, b = queues.open_callers(2, pause=GAP / 2)
    queues.submit(queues.call(a, 1))
    queues.clock.now += GAP
    flush: Any = queues.server.take_flush()
    queues.submit(queues.call(b, 2))
    queues.clock.now += 2 * TIMEOUT  # the handler runs for longer than `b` may wait
    queues.server.serve(flush)
    queues.server.note_free()
    assert queues.serve() is None
    queues.submit(queues.call(a, 3))
    assert queues.serve() == ("all_waiting", [2, 3])


def test_a_full_batch_leaves_at_once():
    queues = Queues(max_batch=2)
    a, b, _ = queues.open_callers(3)
    queues.submit(queues.call(a, 1), queues.call(a, 2), queues.call(b, 3))
    assert queues.serve() == ("max_batch", [1, 2])
    assert queues.serve() is None


def test_when_all_wait_a_surplus_is_served_in_batches_of_the_bound():
    queues = Queues(max_batch=2)
    a, b, c = queues.open_callers(3)
    queues.submit(queues.call(a, 1))
    queues.submit(queues.call(b, 2), queues.call(c, 3))
    before = queues.server.describe()["double"]["histogram"].get("2", 0)
    assert queues.serve() == ("all_waiting", [1, 2, 3])
    assert queues.server.describe()["double"]["histogram"]["2"] == before + 1


def test_closing_flushes_whatever_waits():
    queues = Queues()
    a, _ = queues.open_callers(2)
    queues.submit(queues.call(a, 1))
    assert queues.server.take_flush() is None
    flush: Any = queues.server.take_flush(is_closing=True)
    assert (flush.reason, [call.id for call in flush.calls]) == ("closing", [1])


def test_calls_that_are_ready_together_share_a_batch():
    queues = Queues()
    (caller,) = queues.open_callers(1)
    queues.submit(queues.call(caller, 1), queues.call(caller, 2))
    assert queues.serve() == ("all_waiting", [1, 2])


def test_calls_with_different_configurations_never_share_a_batch():
    queues = Queues()
    a, b = Caller(), Caller()
    queues.submit(queues.call(a, 1, config={"k": 10}))
    queues.submit(queues.call(b, 2, config={"k": 100}))
    assert queues.serve() == ("all_waiting", [1])
    assert queues.serve() == ("all_waiting", [2])
    assert queues.answers == [(1, {"y": 10}), (2, {"y": 200})]


def test_the_hash_of_a_configuration_does_not_depend_on_the_order_of_its_keys():
    nested = {"c": 1, "d": [1, {"e": 2, "f": 3}]}
    turned = {"d": [1, {"f": 3, "e": 2}], "c": 1}
    assert hash_config({"a": nested, "b": 0}) == hash_config({"b": 0, "a": turned})
    assert hash_config({"a": 1}) != hash_config({"a": 1.0})


def test_a_withdrawn_call_is_not_dispatched_and_nobody_waits_for_it():
    queues = Queues()
    a, b = queues.open_callers(2)
    call = queues.call(a, 1)
    queues.submit(call)
    assert queues.server.discard(call)
    assert not queues.server.discard(call)
    queues.server.close_episode(a)
    queues.submit(queues.call(b, 2))
    assert queues.serve() == ("all_waiting", [2])


def test_a_replicated_copy_serves_batches_of_one():
    queues = Queues(row_limit=1)
    a, b = queues.open_callers(2)
    queues.submit(queues.call(a, 1), queues.call(b, 2))
    assert queues.serve() == ("all_waiting", [1, 2])
    assert set(queues.server.describe()["double"]["histogram"]) == {"1"}


def test_idle_queues_are_forgotten_where_configurations_never_repeat():
    queues = Queues()
    caller = Caller()
    for x in range(1000):
        queues.submit(queues.call(caller, x, config={"k": x}))
        assert queues.serve() == ("all_waiting", [x])
    assert len(queues.server._queues) <= 256
