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
from wayfare.fleet.digests import DigestCollector
from wayfare.fleet.errors import BudgetExceededError, CopyFailedError
from wayfare.fleet.launcher import Firing

EPISODE_SECONDS = 30.0
"""How long a copy may take to open or close an episode on a link: no author's code runs."""

Frame = Sequence[bytes | memoryview]
Explain = Callable[[], Awaitable[CopyFailedError]]
_Reply = dict[str, Any]


class Answer(asyncio.Future[Any]):
    """What a request comes to; cancelling it withdraws the request."""

    __slots__ = (
        "budget_seconds",
        "deadline",
        "overdue",
        "request_id",
        "take",
        "what",
        "withdraw",
    )

    def __init__(self, loop: asyncio.AbstractEventLoop, withdraw: Callable[[Answer], None]) -> None:
        super().__init__(loop=loop)
        self.withdraw = withdraw
        self.request_id = 0
        self.what = ""
        self.budget_seconds = self.deadline = math.inf
        self.take: Callable[[_Reply], Any] | None = None
        """Makes the answer's result of the reply."""
        self.overdue: Callable[[], None] | None = None
        """Is called when the budget has passed."""

    def cancel(self, msg: Any | None = None) -> bool:
        """Cancel it; the copy is told not to begin what it has not begun."""
        is_cancelled = super().cancel(msg)
        if is_cancelled:
            self.withdraw(self)
        return is_cancelled


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
        self._pending: dict[int, Answer] = {}
        self._outbox: dict[int, dict[str, Any]] = {}
        self._alarm: asyncio.TimerHandle | None = None
        """One timer for all that is pending: a timer per request would cost as much as a call."""
        self._explaining: set[asyncio.Task[None]] = set()
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
        answer = self._enqueue(op, fields, op, budget_seconds=budget_seconds)
        reply: _Reply = await answer
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
    ) -> asyncio.Future[Any]:
        """Send one tool call; see `Link.call`."""
        what = f"call of tool {fields.get('tool')!r} at node {path!r}"
        fields["path"], fields["turns"] = path, turns
        answer = self._enqueue("call", fields, what, budget_seconds=budget_seconds)
        answer.take, answer.overdue = take, overdue
        self._digests.expect(answer.request_id, path, turns)
        if not is_grouped and self.sends_at_once and len(self._outbox) == 1:
            self._flush()
        return answer

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

    def _pack(self, message: Mapping[str, Any]) -> Frame:
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
            self._fail(answer, from_payload(message["error"]))
        else:
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
        if waiting:
            self._tell_loss(waiting)

    def _enqueue(
        self, op: str, fields: dict[str, Any], what: str, *, budget_seconds: float
    ) -> Answer:
        self._next_id += 1
        answer = Answer(self._loop, self._withdraw)
        answer.request_id, answer.what = self._next_id, what
        if self._is_lost:
            self._tell_loss([answer])
            return answer
        self._pending[self._next_id] = answer
        if not self._outbox:
            self._loop.call_soon(self._flush)
        fields["id"], fields["op"] = self._next_id, op
        self._outbox[self._next_id] = fields
        self._set_deadline(answer, budget_seconds)
        return answer

    def _set_deadline(self, answer: Answer, budget_seconds: float) -> None:
        answer.budget_seconds = budget_seconds
        answer.deadline = self._loop.time() + budget_seconds
        if self._alarm is None or answer.deadline < self._alarm.when():
            self._set_alarm(answer.deadline)

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
            error = BudgetExceededError(
                f"{answer.what} of copy {self._copy_tag!r} got no answer within its budget of "
                f"{answer.budget_seconds:g} s."
            )
            self._fail(answer, error)  # ending the copy may have answered it
        if self._pending:
            self._set_alarm(min(answer.deadline for answer in self._pending.values()))

    def _withdraw(self, answer: Answer) -> None:
        """Take back a request that nobody waits for any more; nothing if it was answered."""
        self._digests.forget(answer.request_id)
        if self._pending.pop(answer.request_id, None) is None:
            return
        if self._outbox.pop(answer.request_id, None) is None:
            fields = {"target": answer.request_id}
            cancelling = self._enqueue("cancel", fields, "cancel", budget_seconds=EPISODE_SECONDS)
            cancelling.add_done_callback(_ignore_outcome)

    def _fail(self, answer: Answer, error: Exception) -> None:
        self._digests.forget(answer.request_id)
        if not answer.done():
            answer.set_exception(error)

    def _tell_loss(self, answers: Sequence[Answer]) -> None:
        """Fail the answers with what ended the copy, once that is known."""
        task = self._loop.create_task(self._explain_to(answers))
        self._explaining.add(task)
        task.add_done_callback(self._explaining.discard)

    async def _explain_to(self, answers: Sequence[Answer]) -> None:
        explained = None if self._fault is not None else await self._explain_loss()
        for answer in answers:
            self._fail(answer, self._describe_loss(answer.what, explained))

    def _describe_loss(self, what: str, explained: CopyFailedError | None) -> Exception:
        if isinstance(self._fault, WireError):
            return CopyFailedError(
                f"{what}: copy {self._copy_tag!r} sent a malformed frame: {self._fault}"
            )
        if explained is None:
            return self._fault or CopyFailedError(f"{what}: copy {self._copy_tag!r} is lost.")
        return CopyFailedError(f"{what}: {explained}", explained.death)

    def _flush(self) -> None:
        """Send what was queued: calls last, so that they form one unbroken group."""
        if not self._outbox:
            return
        messages = sorted(self._outbox.values(), key=lambda message: message["op"] == "call")
        self._outbox.clear()
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
        if frames and not self._is_lost:
            self._deliver(frames[::-1])

    def _refuse(self, request_id: int, error: WireError) -> None:
        answer = self._pending.pop(request_id, None)
        if answer is not None:
            self._fail(answer, error)


def _ignore_outcome(answer: asyncio.Future[Any]) -> None:
    """Mark the outcome of a withdrawal as seen: either way nobody waits for it."""
    if not answer.cancelled():
        answer.exception()
