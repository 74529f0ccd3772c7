"""The connection against a scripted server on a real Unix socket."""

import asyncio
from contextlib import asynccontextmanager

import numpy as np
import pytest
from tests.deadline import HANG_SECONDS

from nodeset import wire
from nodeset.errors import AuthorError, WireError, to_payload
from wayfare.fleet.connection import connect
from wayfare.fleet.errors import BudgetExceededError, CopyFailedError
from wayfare.fleet.line import open_line

CALL = {"budget_seconds": HANG_SECONDS, "config": {}, "inputs": {}, "step": 0, "seed": 0}


class Server:
    """Answers each message with what `answer(message)` returns; keeps what came."""

    def __init__(self, path, answer):
        self.path, self.answer = path, answer
        self.received, self.arrived = [], asyncio.Condition()
        self.writers = []

    async def serve(self, reader, writer):
        self.writers.append(writer)
        decoder = wire.Decoder()
        while chunk := await reader.read(1 << 16):
            for message in decoder.feed(chunk):
                reply = {"ok": {}} if message["op"] == "hello" else self.answer(message)
                async with self.arrived:
                    self.received.append(message)
                    self.arrived.notify_all()
                if reply is not None:
                    writer.writelines(wire.encode({"id": message["id"], **reply}))
        writer.close()

    async def wait_for(self, op):
        async with asyncio.timeout(HANG_SECONDS), self.arrived:
            await self.arrived.wait_for(lambda: op in [m["op"] for m in self.received])
        return next(m for m in self.received if m["op"] == op)


async def explain():
    return CopyFailedError("copy 'x' (pid 7) ended with SIGKILL.")


@asynccontextmanager
async def connected(folder, answer):
    server = Server(folder / "s", answer)
    async with await asyncio.start_unix_server(server.serve, server.path) as listener:
        connection = await connect(
            await open_line(f"unix:{server.path}"), copy="x", worker=0, explain_loss=explain
        )
        try:
            yield server, connection
        finally:
            await connection.close()
            for writer in server.writers:
                writer.close()
            listener.close()


def echo(message):
    return {"ok": {"outputs": message.get("inputs"), "digests": []}}


async def test_calls_made_ready_together_travel_as_one_group(tmp_path):
    async with connected(tmp_path, echo) as (server, connection):
        calls = [connection.call(path=f"n{i}", turns=(0,), tool="t", **CALL) for i in range(3)]
        await asyncio.gather(*calls)
        got = [(m["path"], m.get("more", False)) for m in server.received if m["op"] == "call"]
        assert got == [("n0", True), ("n1", True), ("n2", False)]


async def test_arrays_come_back_as_they_left(tmp_path):
    async with connected(tmp_path, echo) as (_, connection):
        image = np.random.default_rng(0).integers(0, 255, (480, 640, 3), np.uint8)
        call = {**CALL, "inputs": {"rgb": image, "n": 3}}
        reply = await connection.call(path="n", turns=(), tool="t", **call)
        assert np.array_equal(reply["outputs"]["rgb"], image)
        assert reply["outputs"]["n"] == 3


async def test_replies_are_matched_by_id_in_any_order(tmp_path):
    held = []

    def answer(message):
        held.append(message)
        if len(held) < 2:
            return
        server.writers[0].writelines(wire.encode({"id": held[1]["id"], "ok": {"n": 1}}))
        server.writers[0].writelines(wire.encode({"id": held[0]["id"], "ok": {"n": 0}}))
        return

    async with connected(tmp_path, answer) as (server, connection):
        requests = [connection.request("health", budget_seconds=HANG_SECONDS) for _ in range(2)]
        assert await asyncio.gather(*requests) == [{"n": 0}, {"n": 1}]


async def test_an_authors_error_is_raised_with_its_traceback(tmp_path):
    error = AuthorError("it broke", "ValueError", "Traceback: line 3")
    async with connected(tmp_path, lambda _: {"error": to_payload(error)}) as (_, connection):
        with pytest.raises(AuthorError, match="it broke") as caught:
            await connection.call(path="n", turns=(), tool="t", **CALL)
        assert caught.value.traceback_text == "Traceback: line 3"


async def test_a_lost_connection_fails_everything_under_way_with_its_cause(tmp_path):
    async with connected(tmp_path, lambda _: None) as (server, connection):
        calls = [connection.call(path="n", turns=(), tool="t", **CALL) for _ in range(2)]
        waiting = asyncio.gather(*calls, return_exceptions=True)
        await server.wait_for("call")
        server.writers[0].close()
        outcomes = await waiting
        assert all("SIGKILL" in str(outcome) for outcome in outcomes)
        assert connection.is_lost
        with pytest.raises(CopyFailedError):
            await connection.request("health", budget_seconds=HANG_SECONDS)


async def test_a_call_past_its_budget_names_tool_and_budget_and_is_withdrawn(tmp_path):
    async with connected(tmp_path, lambda _: None) as (server, connection):
        with pytest.raises(BudgetExceededError, match=r"'step'.*0\.05 s"):
            await connection.call(
                path="n", turns=(), tool="step", **{**CALL, "budget_seconds": 0.05}
            )
        call, cancel = await server.wait_for("call"), await server.wait_for("cancel")
        assert cancel["target"] == call["id"]


async def test_a_value_that_can_not_cross_fails_its_own_call_alone(tmp_path):
    async with connected(tmp_path, echo) as (_, connection):
        bad = {**CALL, "inputs": {"x": object()}}
        outcomes = await asyncio.gather(
            connection.call(path="a", turns=(), tool="t", **CALL),
            connection.call(path="b", turns=(), tool="t", **bad),
            return_exceptions=True,
        )
        assert outcomes[0] == {"outputs": {}, "digests": []}
        assert isinstance(outcomes[1], WireError)
        assert str(outcomes[1]).startswith("call of tool 't' at node 'b', input 'x': ")


async def test_digests_that_come_later_are_matched_with_their_calls(tmp_path):
    called = []

    def answer(message):
        if message["op"] == "open_episode":
            return {"ok": {}}
        due = [[i, bytes([i]) * 16] for i in called]
        called.clear()
        if message["op"] == "call":
            called.append(message["id"])
        return {"ok": {"outputs": {}, "digests": due}}

    async with connected(tmp_path, answer) as (_, connection):
        await connection.open_episode({})
        await connection.call(path="a", turns=(0,), tool="t", **CALL)
        await connection.call(path="b", turns=(1, 2), tool="t", **CALL)
        firings = await connection.close_episode()
        assert [(path, turns) for path, turns, _ in firings] == [("a", (0,)), ("b", (1, 2))]


async def test_an_episode_without_all_its_digests_is_no_proof(tmp_path):
    async with connected(tmp_path, echo) as (_, connection):
        await connection.open_episode({})
        await connection.call(path="a", turns=(0,), tool="t", **CALL)
        with pytest.raises(CopyFailedError, match=r"without the digests of 1 calls.*'a'"):
            await connection.close_episode()
