"""Bring the calls of a shared copy to their answers, whatever befalls the copy meanwhile.

Knows nothing of graphs, of episodes' results or of how a fresh copy is started.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from wayfare.fleet.digests import Digest, Firing
from wayfare.fleet.errors import CopyFailedError, CopyStartError
from wayfare.fleet.exchange import Exchange
from wayfare.fleet.fleet import Fleet
from wayfare.fleet.member import RunningCopy
from wayfare.fleet.request import Request, make_call
from wayfare.fleet.suspect import Suspects, fail
from wayfare.fleet.together import together
from wayfare.graph.calls import Answer

MAX_UNREACHED = 6
"""How many copies in a row may end, ready as they said they were, before they could be called."""
MAX_UNANSWERED = 6
"""How many may end in a row, by no call, over one thing that they were asked beside calls."""

_Result = TypeVar("_Result")


class Recovery:
    """The calls of all workers to one shared copy, over its deaths; `close` it.

    When the copy dies, a fresh one takes its place and gets again what was under way, one call at a
    time, so that the one that kills it stands alone; all others wait meanwhile. A call that kills
    it again and again fails, alone: see `Suspects`. Shared tools are pure: that allows it.
    """

    def __init__(self, running: RunningCopy, fleet: Fleet, *, digest: Digest, retries: int) -> None:
        self.running = running
        self.digest = digest
        self._fleet = fleet
        self._links: list[SharedLink] = []
        self.suspects = Suspects(retries)
        self._held: list[tuple[SharedLink, Request]] = []
        self._is_lost = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._failure: Exception | None = None
        self._unreached = 0

    @property
    def is_holding(self) -> bool:
        """Return whether calls have to wait: for a fresh copy, or for those under suspicion."""
        return self._task is not None or self._failure is not None

    async def connect(self, worker: int) -> SharedLink:
        """Return a worker's way to whatever copy stands there. Raises CopyFailedError."""
        link = SharedLink(self, worker)
        await link.reconnect()
        self._links.append(link)
        return link

    async def wait_until_settled(self) -> None:
        """Return when calls are sent at once again. Raises what no fresh copy can mend."""
        while self._task is not None:
            await asyncio.wait([self._task])
        if self._failure is not None:
            raise self._failure

    async def renew_if_due(self) -> None:
        """Put a fresh copy in the place of one that is gone or has served for long enough."""
        is_due = await self.running.is_due()
        if not self.is_holding and (is_due or self.running.is_gone):
            step = self._replace if self.running.is_gone else self._recycle
            self._task = asyncio.create_task(self._renew(step), name="renewal")
        await self.wait_until_settled()

    async def close(self) -> None:
        """Give up what is under way."""
        if (task := self._task) is not None:
            task.cancel()
            await asyncio.wait([task])

    def hold(self, link: SharedLink, request: Request) -> None:
        """Keep a call until it may be sent."""
        if self._failure is not None:
            request.set_exception(self._failure)
        else:
            self._held.append((link, request))

    def note_loss(self, link: SharedLink, calls: Sequence[Request]) -> None:
        """Take the calls that were under way on a link that was lost."""
        self._is_lost.set()
        self.suspects.accuse(calls, link.send)
        if self._task is None:
            self._task = asyncio.create_task(self._renew(self._replace), name="recovery")

    async def _renew(self, step: Callable[[], Awaitable[None]]) -> None:
        """Have fresh copies put in the place until no suspect is left; then go on."""
        try:
            await step()
            while not (await self._reconnect() and await self._try_suspects()):
                await self._replace()
        except Exception as error:  # noqa: BLE001  whoever waits for a call raises it
            self._failure = error
            self.suspects.fail(error)
            for _, request in self._held:
                fail(request, error)
        finally:
            self._task = None
        if self._failure is None:
            self._release()

    async def _replace(self) -> None:
        """Put a fresh copy in the place of one that has died or can't be reached."""
        copy = self.running.copy
        copy.kill()
        await asyncio.wait([copy.exited])
        await together(link.end() for link in self._links)  # now all that was under way is here
        self.suspects.count_death(copy.death())
        while True:
            try:
                await self._fleet.replace(self.running.tag)
            except CopyFailedError:
                continue  # it may go well the next time; the fleet says so when it won't
            return

    async def _recycle(self) -> None:
        """Let what is under way be answered, then put a fresh copy in the place."""
        await self._wait_for(*(call for link in self._links for call in link.list_calls()))
        if self._is_lost.is_set():
            await self._replace()
            return
        await together(link.end() for link in self._links)
        try:
            await self._fleet.recycle(self.running.tag)
        except CopyFailedError:
            await self._replace()

    async def _reconnect(self) -> bool:
        """Connect all links to the copy that stands there; say whether it lived so long.

        Raises CopyStartError when one after the other did not.
        """
        self._is_lost.clear()
        try:
            await together(link.reconnect() for link in self._links)
        except CopyFailedError as error:
            self._unreached += 1
            if self._unreached < MAX_UNREACHED:
                return False
            text = f"{self._unreached} copies in a row ended before they could be called: {error}"
            raise CopyStartError(text, error.death) from error
        self._unreached = 0
        return not self._is_lost.is_set()

    async def _try_suspects(self) -> bool:
        """Send the suspects one at a time, those first that saw fewest deaths.

        Say whether all were answered; else the copy has died of one.
        """
        for suspect in self.suspects.sort():
            if suspect.request.done():
                continue
            suspect.send(suspect.request)
            await self._wait_for(suspect.request)
            if self._is_lost.is_set():
                return False
            self.running.fate.note_success()
        self.suspects.clear()
        return True

    async def _wait_for(self, *requests: Request) -> None:
        """Return when all are answered, or the copy is lost."""
        lost = asyncio.ensure_future(self._is_lost.wait())
        try:
            for request in requests:
                await asyncio.wait({request, lost}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            lost.cancel()

    def _release(self) -> None:
        held, self._held = self._held, []
        for link, request in held:
            if not request.done():
                link.send(request)


class SharedLink:
    """A worker's `Link` to a shared copy: its calls outlive the copy that they were sent to."""

    is_lost = False

    def __init__(self, recovery: Recovery, worker: int) -> None:
        self._recovery = recovery
        self._worker = worker
        self._exchange: Exchange | None = None
        self._episode: Mapping[str, Any] | None = None

    def call(self, **call: Any) -> Answer:
        """Send one tool call, now or when it may be; see `Link.call`."""
        if self._recovery.is_holding:
            request = make_call(**call)
            self._recovery.hold(self, request)
            return request
        return self._connected().call(**call)

    async def request(self, op: str, *, budget_seconds: float, **fields: Any) -> dict[str, Any]:
        """Return the reply of one operation; see `Link.request`."""
        return await self._insist(
            lambda exchange: exchange.request(op, budget_seconds=budget_seconds, **fields)
        )

    async def open_episode(self, episode: Mapping[str, Any]) -> None:
        """Begin to collect digests; see `Link.open_episode`."""
        self._episode = episode
        await self._insist(lambda exchange: exchange.open_episode(episode))

    async def close_episode(self) -> list[Firing]:
        """Return the digests since then; see `Link.close_episode`."""
        firings = await self._insist(lambda exchange: exchange.close_episode())
        self._episode = None
        return firings

    async def close(self) -> None:
        """Give the link up; requests under way fail."""
        if self._exchange is not None:
            self._exchange.on_loss = None
            await self._exchange.close()

    async def end(self) -> None:
        """Hand all that is under way to the recovery: the copy has ended."""
        await self._connected().close()

    async def reconnect(self) -> None:
        """Go on with the copy that stands there now, in the same episode."""
        running = self._recovery.running
        fresh = await running.copy.connect(self._worker)
        try:
            fresh.on_loss = partial(self._recovery.note_loss, self)
            if self._exchange is not None:
                fresh.take_over(self._exchange, self._recovery.digest)
            if self._episode is not None:
                await fresh.request("open_episode", episode=self._episode, budget_seconds=math.inf)
        except BaseException:
            await fresh.close()
            raise
        running.links.add(fresh)
        self._exchange = fresh

    def list_calls(self) -> list[Request]:
        """Return the calls that are under way."""
        return self._connected().list_calls()

    def send(self, request: Request) -> None:
        """Send a call that the recovery has kept."""
        self._connected().resend(request)

    def _connected(self) -> Exchange:
        assert self._exchange is not None  # noqa: S101  `Recovery.connect` has connected it
        return self._exchange

    async def _insist(self, ask: Callable[[Exchange], Awaitable[_Result]]) -> _Result:
        """Return what is answered by whatever copy lives for long enough.

        Deaths of which a call is guilty come to an end by themselves; of others it bears a few.
        """
        losses, known = 0, 0
        while True:
            await self._recovery.wait_until_settled()
            if known != self._recovery.suspects.death_count:
                losses, known = 0, self._recovery.suspects.death_count
            exchange = self._connected()
            try:
                return await ask(exchange)
            except CopyFailedError:
                losses += 1
                if not exchange.is_lost or losses == MAX_UNANSWERED:
                    raise
