"""Match one worker's requests to one copy with the replies, whatever carries them.

Knows nothing of sockets, of workers' graphs, of placement or of how the copy was started.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from nodeset import wire
from nodeset.errors import NodeSetError, WireError, from_payload
from wayfare.fleet.digests import DigestCollector
from wayfare.fleet.errors import BudgetExceededError, CopyFailedError
from wayfare.fleet.launcher import Firing

EPISODE_SECONDS = 30.0
"""How long a copy may take to open or close an episode on a link: no author's code runs."""

Frame = Sequence[bytes | memoryview]
Explain = Callable[[], Awaitable[CopyFailedError]]
_Reply = asyncio.Future[dict[str, Any]]


class Exchange(ABC):
    """A `Link` without what carries it.

    Requests that are made in one iteration of the event loop leave together, and the calls among
    them as one group, so that the copy sees together what became ready together.
    """

    def __init__(self, copy: str, explain_loss: Explain) -> None:
        self._copy_tag = copy
        self._explain_loss = explain_loss
        self._loop = asyncio.get_running_loop()
        self._pending: dict[int, _Reply] = {}
        self._outbox: dict[int, dict[str, Any]] = {}
        self._next_id = 0
        self._is_lost = False
        self._fault: NodeSetError | None = None
        self._digests = DigestCollector()

    @property
    def is_lost(self) -> bool:
        """Return whether the copy can't be reached through it any more."""
        return self._is_lost

    async def request(self, op: str, *, budget_seconds: float, **fields: Any) -> dict[str, Any]:
        """Return the reply of one operation; see `Link.request`."""
        request_id, future = self._enqueue(op, fields)
        return await self._await_reply(request_id, future, op, budget_seconds)

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
        return self._digests.take(self._copy_tag)

    @abstractmethod
    async def close(self) -> None:
        """Give the link up; requests under way fail."""

    @abstractmethod
    def _deliver(self, frames: Sequence[Frame]) -> None:
        """Carry frames to the copy."""

    def _receive(self, message: Mapping[str, Any]) -> None:
        """Take a reply that the carrier brought."""
        reply = message.get("ok", {})
        self._digests.add(reply.get("digests", ()))  # of earlier calls, whoever waits for this one
        future = self._pending.pop(message.get("id", 0), None)
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(from_payload(message["error"]))
        else:
            future.set_result(reply)

    def _lose(self, fault: NodeSetError | None = None) -> None:
        """Note that nothing is carried any more, because of the carrier's own `fault` if any."""
        self._is_lost = True
        self._fault = self._fault or fault
        for future in self._pending.values():
            if not future.done():
                future.set_exception(_LostError())
        self._pending.clear()
        self._outbox.clear()

    def _enqueue(self, op: str, fields: Mapping[str, Any]) -> tuple[int, _Reply]:
        self._next_id += 1
        future: _Reply = self._loop.create_future()
        if self._is_lost:
            future.set_exception(_LostError())
            return self._next_id, future
        self._pending[self._next_id] = future
        if not self._outbox:
            self._loop.call_soon(self._flush)
        self._outbox[self._next_id] = {"id": self._next_id, "op": op, **fields}
        return self._next_id, future

    async def _await_reply(
        self, request_id: int, future: _Reply, what: str, budget_seconds: float
    ) -> dict[str, Any]:
        try:
            async with asyncio.timeout(budget_seconds):
                return await future
        except TimeoutError as error:
            raise BudgetExceededError(
                f"{what} of copy {self._copy_tag!r} got no answer within its budget of "
                f"{budget_seconds:g} s."
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

    async def _describe_loss(self, what: str) -> Exception:
        if isinstance(self._fault, WireError):
            return CopyFailedError(
                f"{what}: copy {self._copy_tag!r} sent a malformed frame: {self._fault}"
            )
        if self._fault is not None:
            return self._fault
        explained = await self._explain_loss()
        return CopyFailedError(f"{what}: {explained}", explained.death)

    def _flush(self) -> None:
        """Send what was queued: calls last, so that they form one unbroken group."""
        messages = sorted(self._outbox.values(), key=lambda message: message["op"] == "call")
        self._outbox.clear()
        frames: list[Frame] = []
        is_group_open = False
        for message in reversed(messages):  # only the last call that can be encoded lacks `more`
            is_call = message["op"] == "call"
            if is_group_open and is_call:
                message["more"] = True
            try:
                frames.append(wire.encode(message))
            except WireError as error:
                self._refuse(message["id"], error)
            else:
                is_group_open = is_group_open or is_call
        if frames and not self._is_lost:
            self._deliver(frames[::-1])

    def _refuse(self, request_id: int, error: WireError) -> None:
        future = self._pending.pop(request_id)
        if not future.done():
            future.set_exception(error)


class _LostError(Exception):
    """The carrier ended before the reply came; never leaves this module."""


def _ignore_outcome(answer: _Reply) -> None:
    """Mark the outcome of a withdrawal as seen: either way nobody waits for it."""
    if not answer.cancelled():
        answer.exception()
