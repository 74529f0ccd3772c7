"""Carry one worker's requests to one copy and its replies back, over a Unix or TCP stream.

Knows nothing of workers' graphs, of placement or of how the copy was started.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nodeset import wire
from nodeset.errors import WireError, from_payload
from wayfare.fleet.digests import DigestCollector
from wayfare.fleet.errors import BudgetExceededError, CopyFailedError
from wayfare.fleet.launcher import Firing

PROTOCOL = 1
HELLO_SECONDS = 120.0
EPISODE_SECONDS = 30.0
"""How long a copy may take to open or close an episode on a connection: no author's code runs."""

Explain = Callable[[], Awaitable[CopyFailedError]]


class Connection(asyncio.BufferedProtocol):
    """A `Link` over a stream.

    Frames that are queued in one iteration of the event loop leave in one write, and the calls
    among them as one group, so that the copy sees together what became ready together.
    """

    def __init__(self, url: str, explain_loss: Explain) -> None:
        self._url = url
        self._explain_loss = explain_loss
        self._decoder = wire.Decoder()
        self._pending: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._outbox: dict[int, dict[str, Any]] = {}
        self._next_id = 0
        self._is_lost = False
        self._fault: WireError | None = None
        self._digests = DigestCollector()
        self._loop = asyncio.get_running_loop()

    # The `Link` protocol.

    @property
    def is_lost(self) -> bool:
        """Return whether the stream has ended."""
        return self._is_lost

    async def request(self, op: str, *, budget_seconds: float, **fields: Any) -> dict[str, Any]:
        """Return the reply of one operation; see `Link.request`."""
        return await self._await_reply(*self._enqueue(op, fields), op, budget_seconds)

    async def call(
        self, *, path: str, turns: tuple[int, ...], budget_seconds: float, **fields: Any
    ) -> dict[str, Any]:
        """Return the reply of one tool call; see `Link.call`."""
        call_id, future = self._enqueue("call", {**fields, "path": path, "turns": turns})
        self._digests.expect(call_id, path, turns)
        what = f"call of tool {fields.get('tool')!r} at node {path!r}"
        try:
            return await self._await_reply(call_id, future, what, budget_seconds)
        except BaseException:
            self._digests.forget(call_id)
            raise

    async def open_episode(self, episode: Mapping[str, Any]) -> None:
        """Open an episode on the copy; see `Link.open_episode`."""
        self._digests.reset()
        await self.request("open_episode", episode=episode, budget_seconds=EPISODE_SECONDS)

    async def close_episode(self) -> list[Firing]:
        """Close the episode on the copy; see `Link.close_episode`."""
        await self.request("close_episode", budget_seconds=EPISODE_SECONDS)
        return self._digests.take(self._url)

    async def close(self) -> None:
        """Give the connection up; requests under way fail."""
        self._transport.abort()

    # asyncio's side.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  streams only
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002
        return self._decoder.get_buffer()

    def buffer_updated(self, nbytes: int) -> None:
        try:
            for message in self._decoder.receive(nbytes):
                self._take(message)
        except WireError as error:
            self._fault = error
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._is_lost = True
        for future in self._pending.values():
            if not future.done():
                future.set_exception(_LostError())
        self._pending.clear()
        self._outbox.clear()

    def _enqueue(
        self, op: str, fields: Mapping[str, Any]
    ) -> tuple[int, asyncio.Future[dict[str, Any]]]:
        self._next_id += 1
        future: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        if self._is_lost:
            future.set_exception(_LostError())
            return self._next_id, future
        self._pending[self._next_id] = future
        if not self._outbox:
            self._loop.call_soon(self._flush)
        self._outbox[self._next_id] = {"id": self._next_id, "op": op, **fields}
        return self._next_id, future

    async def _await_reply(
        self,
        request_id: int,
        future: asyncio.Future[dict[str, Any]],
        what: str,
        budget_seconds: float,
    ) -> dict[str, Any]:
        try:
            async with asyncio.timeout(budget_seconds):
                return await future
        except TimeoutError as error:
            raise BudgetExceededError(
                f"{what} on {self._url} got no answer within its budget of {budget_seconds:g} s."
            ) from error
        except _LostError:
            raise await self._describe_loss(what) from None
        finally:
            self._abandon(request_id)

    def _abandon(self, request_id: int) -> None:
        """Withdraw a request that nobody waits for any more; nothing if it was answered."""
        if self._pending.pop(request_id, None) is None:
            return
        if self._outbox.pop(request_id, None) is None:
            _, answer = self._enqueue("cancel", {"target": request_id})
            answer.add_done_callback(_ignore_outcome)

    async def _describe_loss(self, what: str) -> CopyFailedError:
        if self._fault is not None:
            return CopyFailedError(f"{what}: {self._url} sent a malformed frame: {self._fault}")
        explained = await self._explain_loss()
        return CopyFailedError(f"{what}: {explained}", explained.death)

    def _flush(self) -> None:
        """Write what was queued: calls last, so that they form one unbroken group."""
        messages = sorted(self._outbox.values(), key=lambda message: message["op"] == "call")
        self._outbox.clear()
        if self._is_lost or not messages:
            return
        buffers: list[bytes | memoryview] = []
        is_group_open = False
        for message in reversed(messages):  # only the last call that can be encoded lacks `more`
            if is_group_open and message["op"] == "call":
                message["more"] = True
            try:
                buffers[:0] = wire.encode(message)
            except WireError as error:
                self._refuse(message["id"], error)
            else:
                is_group_open = is_group_open or message["op"] == "call"
        self._transport.writelines(buffers)

    def _refuse(self, request_id: int, error: WireError) -> None:
        future = self._pending.pop(request_id)
        if not future.done():
            future.set_exception(error)

    def _take(self, message: dict[str, Any]) -> None:
        reply = message.get("ok", {})
        self._digests.add(reply.get("digests", ()))  # of earlier calls, whoever waits for this one
        future = self._pending.pop(message.get("id", 0), None)
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(from_payload(message["error"]))
        else:
            future.set_result(reply)


class _LostError(Exception):
    """The stream ended before the reply came; never leaves this module."""


async def open_connection(url: str, worker: int, explain_loss: Explain) -> Connection:
    """Connect to a copy at `unix:PATH` or `tcp:HOST:PORT` and greet it.

    Raises OSError when nothing listens there, CopyFailedError when the copy ends meanwhile.
    """
    loop = asyncio.get_running_loop()
    scheme, _, address = url.partition(":")
    if scheme == "unix":
        _, connection = await loop.create_unix_connection(
            lambda: Connection(url, explain_loss), address
        )
    else:
        host, _, port = address.rpartition(":")
        _, connection = await loop.create_connection(
            lambda: Connection(url, explain_loss), host, int(port)
        )
    try:
        await connection.request(
            "hello", protocol=PROTOCOL, worker=worker, budget_seconds=HELLO_SECONDS
        )
    except BaseException:
        await connection.close()
        raise
    return connection


def _ignore_outcome(answer: asyncio.Future[dict[str, Any]]) -> None:
    """Mark the outcome of a withdrawal as seen: either way nobody waits for it."""
    if not answer.cancelled():
        answer.exception()
