"""Workers that share one line to a copy: each is answered on its own channel."""

import asyncio
from contextlib import asynccontextmanager

import numpy as np
import pytest

from nodeset import wire
from wayfare.fleet.connection import connect
from wayfare.fleet.errors import CopyFailedError
from wayfare.fleet.line import CHUNK, open_line

CALL = {"budget_seconds": 60, "config": {}, "step": 0, "seed": 0, "turns": (0,), "tool": "t"}


class Server:
    """Keeps the messages that came, and answers those that `is_answered` allows."""

    def __init__(self):
        self.received, self.reads, self.writer = [], [], None
        self.is_answered = lambda message: True
        self.news = asyncio.Condition()

    async def serve(self, reader, writer):
        self.writer = writer
        decoder = wire.Decoder()
        while chunk := await reader.read(1 << 20):
            came = list(decoder.feed(chunk))
            self.reads.append(came)
            async with self.news:
                self.received += came
                self.news.notify_all()
            for message in came:
                if message["op"] != "leave" and self.is_answered(message):
                    writer.writelines(wire.encode(reply_to(message)))
        writer.close()

    async def wait_for(self, count, op="call"):
        async with asyncio.timeout(60), self.news:
            await self.news.wait_for(lambda: len(self.list(op)) >= count)
        return self.list(op)

    def list(self, op):
        return [message for message in self.received if message["op"] == op]


def reply_to(message):
    outputs = {"channel": message.get("channel", 0)}
    reply = {"id": message["id"], "ok": {"outputs": outputs, "digests": []}}
    return {**reply, "channel": message["channel"]} if "channel" in message else reply


async def explain():
    return CopyFailedError("copy 'x' (pid 7) ended with SIGKILL.")


@asynccontextmanager
async def shared(folder, workers):
    """Give the server and the connections of so many workers, all on one line."""
    server = Server()
    path = folder / "s"
    async with await asyncio.start_unix_server(server.serve, path) as listener:
        line = await open_line(f"unix:{path}")
        links = [
            await connect(line, copy="x", worker=worker, explain_loss=explain)
            for worker in range(workers)
        ]
        try:
            yield server, links
        finally:
            for link in links:
                await link.close()
            server.writer.close()
            listener.close()


def begin(link, **inputs):
    return link.call(path="n", inputs=inputs, **CALL)


async def test_each_worker_is_answered_on_its_own_channel(tmp_path):
    async with shared(tmp_path, 3) as (_, links):
        replies = await asyncio.gather(*(begin(link) for link in links for _ in range(2)))
        assert [reply["outputs"]["channel"] for reply in replies] == [0, 0, 1, 1, 2, 2]


async def test_calls_of_many_workers_leave_in_few_writes_and_each_group_stays_whole(tmp_path):
    async with shared(tmp_path, 16) as (server, links):
        server.reads.clear()
        await asyncio.gather(*(begin(link) for link in links for _ in range(2)))
        assert len(server.reads) <= 32 // CHUNK
        calls = [(m.get("channel", 0), m.get("more", False)) for m in server.list("call")]
        assert calls == [(n, more) for n in range(16) for more in (True, False)]


async def test_a_worker_that_leaves_takes_nobody_with_it(tmp_path):
    async with shared(tmp_path, 3) as (server, links):
        server.is_answered = lambda message: message.get("channel", 0) != 1
        stays, leaves = begin(links[2]), begin(links[1])
        await server.wait_for(2)
        await links[1].close()
        with pytest.raises(CopyFailedError):
            await leaves
        (leave,) = await server.wait_for(1, "leave")
        assert leave["channel"] == 1
        assert (await stays)["outputs"] == (await begin(links[0]))["outputs"] | {"channel": 2}


async def test_the_last_to_leave_closes_the_line(tmp_path):
    async with shared(tmp_path, 2) as (server, links):
        for link in links:
            await link.close()
        async with asyncio.timeout(60):
            await server.writer.wait_closed()


async def test_all_workers_lose_what_is_under_way_with_the_copy(tmp_path):
    async with shared(tmp_path, 4) as (server, links):
        server.is_answered = lambda message: False
        calls = [begin(link) for link in links]
        await server.wait_for(4)
        server.writer.close()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert all("SIGKILL" in str(outcome) for outcome in outcomes)
        assert all(link.is_lost for link in links)


async def test_who_connects_to_a_line_that_has_ended_learns_it_at_once(tmp_path):
    async with shared(tmp_path, 1) as (_, links):
        line = links[0]._line
        await links[0].close()
        with pytest.raises(CopyFailedError):
            await connect(line, copy="x", worker=1, explain_loss=explain)


async def test_replies_that_came_before_the_end_count(tmp_path):
    async with shared(tmp_path, 2) as (server, links):
        server.is_answered = lambda message: False
        calls = [begin(link) for link in links]
        first, second = await server.wait_for(2)
        again = []
        calls[0].listen(lambda _: again.append(begin(links[0], rgb=np.zeros(10))))
        for message in (first, second):
            server.writer.writelines(wire.encode(reply_to(message)))
        server.writer.close()
        replies = await asyncio.gather(*calls)
        assert [reply["outputs"]["channel"] for reply in replies] == [0, 1]
        with pytest.raises(CopyFailedError):
            await again[0]
