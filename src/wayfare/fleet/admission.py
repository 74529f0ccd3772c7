"""Say which workers may call their own copies now, where calls are too short for all to call.

Knows nothing of what is called, of how calls travel or of what becomes of answers.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from wayfare.fleet.exchange import Exchange
from wayfare.fleet.member import RunningCopy
from wayfare.fleet.request import Request, make_call
from wayfare.graph.calls import Answer

LEAST = 8
"""Workers that may always call: as many as keep this process busy where calls cost nothing."""
CALL_SECONDS = 0.000_025
"""Half of what a call costs this process, so that it can't be short of copies that answer."""
SLICE_SECONDS = 0.2
"""How long a worker goes on while others wait: long, as against the millisecond in which the
processor's caches fill with its copy.
"""
LONG_SECONDS = 0.010
"""Who has waited so long for a copy holds up nobody else: its call is none of the short ones."""
LOOK_SECONDS = 0.25

Take = Callable[[dict[str, Any]], Any]
"""Makes a call's outcome of the reply."""


@dataclass(slots=True, eq=False)
class _Turn:
    """One worker's calls: those under way and those that may not be sent yet."""

    is_admitted: bool = False
    admitted_at: float = 0.0
    sent_at: float = 0.0
    under_way: list[Answer] = field(default_factory=list)
    held: list[tuple[Exchange, Request]] = field(default_factory=list)

    @property
    def is_idle(self) -> bool:
        """Return whether all that was sent has been answered."""
        return all(answer.done() for answer in self.under_way)


class Admission:
    """Who of many workers calls their own copies.

    This process makes so many calls a second, and not more. Where the author's code takes
    microseconds, a few copies keep it busy; to call all in turn takes twice as long, since the
    caches hold nothing of a copy whose turn comes. So as many workers call as are needed to keep
    this process busy while author code runs in their copies, LEAST at least: each for a slice of
    time, or until it has nothing to call. Where calls are longer, which is known from the copies'
    pages, nobody ever waits.
    """

    def __init__(
        self,
        copies: Sequence[RunningCopy],
        workers: int,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._copies = copies
        self._turns = [_Turn() for _ in range(workers)]
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._admitted: set[_Turn] = set()
        self._queue: deque[_Turn] = deque()
        self._is_reviewing = False
        self._alarm: asyncio.TimerHandle | None = None
        self._seen = (0, 0.0)
        self._looks_at = 0.0
        self.limit = workers
        """How many may call now."""

    def link(self, exchange: Exchange, worker: int) -> AdmittedLink:
        """Return a worker's link to its own copy, whose calls wait for their turn."""
        return AdmittedLink(exchange, self, self._turns[worker])

    def is_let_through(self, turn: _Turn) -> bool:
        """Return whether the worker may send a call now, and take note of that."""
        now = self._clock()
        if now >= self._looks_at:
            self._look(now)
        turn.sent_at = now
        if not self._queue:
            return turn.is_admitted or self.limit >= len(self._turns)
        if turn.is_admitted and now - turn.admitted_at > SLICE_SECONDS:
            self._dismiss(turn)  # what it has under way goes on
        return turn.is_admitted

    def hold(self, turn: _Turn, exchange: Exchange, request: Request) -> None:
        """Keep a call until it is its worker's turn."""
        if not turn.held:
            self._queue.append(turn)
        turn.held.append((exchange, request))
        self.note_change()

    def note_change(self) -> None:
        """Look who may go next, once all has been done that can be done now."""
        if self._queue and not self._is_reviewing:
            self._is_reviewing = True
            self._loop.call_soon(self._review)

    def _review(self) -> None:
        """Let the next ones in, in the place of those that have nothing to call."""
        self._is_reviewing = False
        if len(self._admitted) >= self.limit:
            for turn in [turn for turn in self._admitted if turn.is_idle]:
                self._dismiss(turn)
        while self._queue and len(self._admitted) < self.limit:
            self._admit(self._queue.popleft())
        if self._queue and self._alarm is None:
            self._alarm = self._loop.call_later(LONG_SECONDS, self._dismiss_long)

    def _admit(self, turn: _Turn) -> None:
        turn.is_admitted = True
        turn.admitted_at = turn.sent_at = self._clock()
        self._admitted.add(turn)
        held, turn.held = turn.held, []
        turn.under_way = [request for _, request in held if not request.done()]
        for exchange, request in held:
            if not request.done():
                exchange.resend(request)

    def _dismiss(self, turn: _Turn) -> None:
        turn.is_admitted = False
        self._admitted.discard(turn)

    def _dismiss_long(self) -> None:
        """Give the places of those that have waited for long to others."""
        self._alarm = None
        long_ago = self._clock() - LONG_SECONDS
        for turn in [turn for turn in self._admitted if turn.sent_at < long_ago]:
            self._dismiss(turn)
        self._review()

    def _look(self, now: float) -> None:
        """Set the limit by how long author code took since the last look."""
        self._looks_at = now + LOOK_SECONDS
        ended = sum(running.ended for running in self._copies)
        seconds = sum(running.ended_seconds for running in self._copies)
        more_ended, more_seconds = ended - self._seen[0], seconds - self._seen[1]
        self._seen = ended, seconds
        if more_ended > 0 and more_seconds >= 0.0:  # else a copy was replaced
            self.limit = LEAST + int(more_seconds / more_ended / CALL_SECONDS)


def admit(copies: Iterable[RunningCopy], workers: int) -> Admission | None:
    """Return what says when workers may call their own copies; None: always.

    A worker that calls a shared copy too leaves its own after a call or two, so that no cache would
    be found filled, and batches want as many as possible at once.
    """
    own = list(copies)
    calls_shared = any(running.member.placement.coalesced for running in own)
    return None if calls_shared or workers <= LEAST else Admission(own, workers)


class AdmittedLink:
    """A worker's `Link` to its own copy, whose calls wait for the worker's turn."""

    def __init__(self, exchange: Exchange, admission: Admission, turn: _Turn) -> None:
        self._exchange = exchange
        self._admission = admission
        self._turn = turn
        self.request = exchange.request
        self.open_episode = exchange.open_episode
        self.close_episode = exchange.close_episode
        self.close = exchange.close

    @property
    def is_lost(self) -> bool:
        """Return whether the copy can't be reached through it any more."""
        return self._exchange.is_lost

    def call(self, *, take: Take | None = None, **call: Any) -> Answer:
        """Send one tool call, now or when it is the worker's turn; see `Link.call`."""
        turn, noting = self._turn, partial(self._take, take)
        if not self._admission.is_let_through(turn):
            request = make_call(take=noting, **call)
            self._admission.hold(turn, self._exchange, request)
            return request
        answer = self._exchange.call(take=noting, **call)
        if turn.is_admitted:
            turn.under_way = [other for other in turn.under_way if not other.done()]
            turn.under_way.append(answer)
        return answer

    def _take(self, take: Take | None, reply: dict[str, Any]) -> Any:
        self._admission.note_change()
        return reply if take is None else take(reply)
