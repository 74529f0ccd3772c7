"""Match one worker's requests to one copy with the replies, whatever carries them.

Knows nothing of sockets, of workers' graphs, of placement or of how the copy was started.
"""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from nodeset import wire
from nodeset.errors import NodeSetError, WireError, from_payload
from wayfare.fleet.digests import Digest, DigestCollector, Firing
from wayfare.fleet.errors import CopyFailedError
from wayfare.fleet.line import Frame
from wayfare.fleet.request import Reply, Request, withdraw_nothing
from wayfare.graph.calls import Answer

CANCEL_SECONDS = 30.0
"""How long a copy may take to withdraw a call."""

Explain = Callable[[], Awaitable[CopyFailedError]]


class Exchange(ABC):
    """A `Link` without what carries it.

    Calls that are made in one iteration of the event loop leave together, as one group, so that the
    copy sees together what became ready together. A call that the copy puts in no batch need
    not wait for that: where `sends_at_once`, it leaves when it is made.
    """

    sends_at_once = False

    def __init__(self, copy: str, explain_loss: Explain) -> None:
        self._copy_tag = copy
        self._explain_loss = explain_loss
        self._loop = asyncio.get_running_loop()
        self._pending: dict[int, Request] = {}
        self._outbox: dict[int, dict[str, Any]] = {}
        self._alarm: asyncio.TimerHandle | None = None
        """One timer for all that is pending: a timer per request would cost as much as a call."""
        self._explaining: set[asyncio.Task[None]] = set()
        self._next_id = 0
        self._is_lost = False
        self._fault: NodeSetError | None = None
        self._digests = DigestCollector()
        self.on_loss: Callable[[list[Request]], None] | None = None
        """Takes over the calls that are unanswered when the copy is lost; None: they fail."""

    @property
    def is_lost(self) -> bool:
        """Return whether the copy can't be reached through it any more."""
        return self._is_lost

    async def request(self, op: str, *, budget_seconds: float, **fields: Any) -> dict[str, Any]:
        """Return the reply of one operation; see `Link.request`."""
        reply: Reply = await self._enqueue(op, fields, budget_seconds)
        return reply

    def call(
        self,
        *,
        path: str,
        turns: tuple[int, ...],
        budget_seconds: float,
        take: Callable[[dict[str, Any]], Any] | None = None,
        overdue: Callable[[], None] | None = None,
        is_grouped: bool = True,
        **fields: Any,
    ) -> Answer:
        """Send one tool call; see `Link.call`."""
        fields["path"], fields["turns"] = path, turns
        request = self._open("call", fields, budget_seconds)
        request.take, request.overdue = take, overdue
        self._digests.expect(request.request_id, path, turns)
        if is_grouped or self._outbox or not self.sends_at_once:
            self._queue(request)
        else:
            self._send([request.fields])
        return request

    async def open_episode(self, episode: Mapping[str, Any]) -> None:
        """Open an episode on the copy; see `Link.open_episode`."""
        self._digests.reset()
        await self.request("open_episode", episode=episode, budget_seconds=math.inf)

    async def close_episode(self) -> list[Firing]:
        """Close the episode on the copy; see `Link.close_episode`."""
        await self.request("close_episode", budget_seconds=math.inf)
        return self._digests.take(self._copy_tag)

    @property
    def oldest_request(self) -> int | None:
        """Return the number of what has waited longest for its reply, None if nothing waits."""
        return next(iter(self._pending), None)

    def list_calls(self) -> list[Request]:
        """Return the calls that are under way."""
        return [r for r in self._pending.values() if r.fields["op"] == "call" and not r.done()]

    def resend(self, request: Request) -> None:
        """Send a call that another exchange, or none, has taken; its digest is kept here."""
        fields = request.fields
        fields.pop("more", None)
        self._next_id += 1
        fields["id"] = self._next_id
        request.withdraw = self._withdraw
        self._pending[self._next_id] = request
        self._digests.expect(self._next_id, fields["path"], fields["turns"])
        if self._is_lost:
            self._lose()
        else:
            self._queue(request)

    def take_over(self, lost: Exchange, digest: Digest) -> None:
        """Go on with the episode of an exchange whose copy has ended."""
        self._digests = lost._digests
        self._digests.settle(digest)

    @abstractmethod
    async def close(self) -> None:
        """Give the link up; requests under way fail."""

    def _pack(self, message: dict[str, Any]) -> Frame:
        """Return the frame of a message; raises WireError."""
        return wire.encode(message)

    @abstractmethod
    def _deliver(self, frames: Sequence[Frame]) -> None:
        """Carry frames to the copy."""

    def _receive(self, message: Mapping[str, Any]) -> None:
        """Take a reply that the carrier brought."""
        reply = message.get("ok", {})
        digests = reply.get("digests")
        if digests:
            self._digests.add(digests)  # of earlier calls, whoever waits for this one
        answer = self._pending.pop(message.get("id", 0), None)
        if answer is None or answer.done():
            return
        if "error" in message:
            self._fail(answer, answer.describe_refusal(from_payload(message["error"])))
            return
        if self.on_loss is not None and "outputs" in reply:
            self._digests.hold(answer.request_id, answer.fields["tool"], reply["outputs"])
        answer.set_result(reply if answer.take is None else answer.take(reply))

    def _lose(self, fault: NodeSetError | None = None) -> None:
        """Note that nothing is carried any more, because of the carrier's own `fault` if any."""
        self._is_lost = True
        self._fault = self._fault or fault
        waiting = [answer for answer in self._pending.values() if not answer.done()]
        self._pending.clear()
        self._outbox.clear()
        if self._alarm is not None:
            self._alarm.cancel()
        if self.on_loss is not None:
            waiting = self._hand_over(waiting, self.on_loss)
        if waiting:
            self._tell_loss(waiting)

    def _hand_over(
        self, waiting: list[Request], take: Callable[[list[Request]], None]
    ) -> list[Request]:
        """Give the calls away; return the rest."""
        calls = [request for request in waiting if request.fields["op"] == "call"]
        for call in calls:
            self._digests.forget(call.request_id)
            call.withdraw = withdraw_nothing
        take(calls)
        return [request for request in waiting if request.fields["op"] != "call"]

    def _enqueue(self, op: str, fields: dict[str, Any], budget_seconds: float) -> Request:
        request = self._open(op, fields, budget_seconds)
        self._queue(request)
        return request

    def _open(self, op: str, fields: dict[str, Any], budget_seconds: float) -> Request:
        """Return what the answer to a message is going to be; the message is not sent by this."""
        self._next_id += 1
        fields["id"], fields["op"] = self._next_id, op
        request = Request(self._loop, fields, self._withdraw)
        if self._is_lost:
            self._tell_loss([request])
            return request
        self._pending[self._next_id] = request
        request.budget_seconds = budget_seconds
        request.deadline = deadline = self._loop.time() + budget_seconds
        if self._alarm is None or deadline < self._alarm.when():
            self._set_alarm(deadline)
        return request

    def _queue(self, request: Request) -> None:
        if self._is_lost:
            return
        if not self._outbox:
            self._schedule()
        self._outbox[request.request_id] = request.fields

    def _schedule(self) -> None:
        """Have `_flush` called once what is ready now has been queued."""
        self._loop.call_soon(self._flush)

    def _set_alarm(self, deadline: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._loop.call_at(deadline, self._end_overdue)

    def _end_overdue(self) -> None:
        """Give up what is past its budget, and look again when the next may be."""
        self._alarm = None
        now = self._loop.time()
        for answer in [a for a in self._pending.values() if a.deadline <= now and not a.done()]:
            self._withdraw(answer)
            if answer.overdue is not None:
                answer.overdue()
            self._fail(answer, answer.describe_delay(self._copy_tag))  # or its end has answered it
        if self._pending:
            self._set_alarm(min(answer.deadline for answer in self._pending.values()))

    def _withdraw(self, answer: Request) -> None:
        """Take back a request that nobody waits for any more; nothing if it was answered."""
        self._digests.forget(answer.request_id)
        if self._pending.pop(answer.request_id, None) is None:
            return
        if self._outbox.pop(answer.request_id, None) is None:
            fields = {"target": answer.request_id}
            cancelling = self._enqueue("cancel", fields, CANCEL_SECONDS)
            cancelling.add_done_callback(_ignore_outcome)

    def _fail(self, answer: Request, error: Exception) -> None:
        self._digests.forget(answer.request_id)
        if not answer.done():
            answer.set_exception(error)

    def _tell_loss(self, answers: Sequence[Request]) -> None:
        """Fail the answers with what ended the copy, once that is known."""
        task = self._loop.create_task(self._explain_to(answers))
        self._explaining.add(task)
        task.add_done_callback(self._explaining.discard)

    async def _explain_to(self, answers: Sequence[Request]) -> None:
        explained = None if self._fault is not None else await self._explain_loss()
        for answer in answers:
            self._fail(answer, answer.describe_loss(self._copy_tag, self._fault or explained))

    def _flush(self) -> None:
        """Send what was queued: calls last, so that they form one unbroken group."""
        messages = sorted(self._outbox.values(), key=lambda message: message["op"] == "call")
        self._outbox.clear()
        self._send(messages)

    def _send(self, messages: Sequence[dict[str, Any]]) -> None:
        if self._is_lost:
            return
        frames: list[Frame] = []
        is_group_open = False
        for message in reversed(messages):  # only the last call that can be encoded lacks `more`
            is_call = message["op"] == "call"
            if is_group_open and is_call:
                message["more"] = True
            try:
                frames.append(self._pack(message))
            except WireError as error:
                self._refuse(message["id"], error)
            else:
                is_group_open = is_group_open or is_call
        if frames:
            self._deliver(frames[::-1])

    def _refuse(self, request_id: int, error: WireError) -> None:
        answer = self._pending.pop(request_id, None)
        if answer is not None:
            self._fail(answer, answer.describe_unsent(error))


def _ignore_outcome(answer: asyncio.Future[Any]) -> None:
    """Mark the outcome of a withdrawal as seen: either way nobody waits for it."""
    if not answer.cancelled():
        answer.exception()
