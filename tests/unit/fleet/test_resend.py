"""Calls outlive the shared copy that they were sent to; the one that kills it fails alone."""

import asyncio
import math
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from tests.deadline import HANG_SECONDS

from wayfare.fleet.errors import CopyDeath, CopyFailedError, CopyStartError, failure_of
from wayfare.fleet.exchange import Exchange
from wayfare.fleet.member import Fate
from wayfare.fleet.resend import Recovery


class FakeExchange(Exchange):
    """Carries messages to a copy that answers at once, but dies of certain calls."""

    def __init__(self, copy):
        super().__init__("policy", copy.explain_loss)
        self.copy = copy

    async def close(self):
        if not self.is_lost:
            self._lose()

    def _pack(self, message):
        return [message]

    def _deliver(self, frames):
        self._loop.call_soon(self.copy.serve, self, [message for (message,) in frames])


@dataclass
class FakeCopy:
    """One life of the shared copy; `world` decides what it dies of."""

    world: "World"
    tag: str = "policy"
    exchanges: list = field(default_factory=list)

    def __post_init__(self):
        self.exited = asyncio.get_running_loop().create_future()
        self.pid = len(self.world.lives) + 1
        self.world.lives.append([])

    async def connect(self, worker):
        if self.world.is_unreachable:
            self.kill()
            raise failure_of(self.death())
        self.exchanges.append(FakeExchange(self))
        return self.exchanges[-1]

    def death(self):
        return CopyDeath("policy", self.pid, -11, "") if self.exited.done() else None

    async def explain_loss(self):
        return failure_of(self.death())

    def kill(self, verdict=None):
        if not self.exited.done():
            self.exited.set_result(-11)
            for exchange in self.exchanges:
                if not exchange.is_lost:
                    exchange._lose()

    def serve(self, exchange, messages):
        for message in messages:
            if self.exited.done():
                return
            if message["op"] == "call":
                self.world.lives[-1].append(message["inputs"]["x"])
            is_deadly = message["op"] in self.world.deadly_operations
            if is_deadly or (message["op"] == "call" and self.world.kills(message["inputs"]["x"])):
                self.kill()
            elif message["op"] != "call" or message["inputs"]["x"] not in self.world.unanswered:
                is_call = message["op"] == "call"
                ok = {"outputs": message["inputs"], "logs": [], "digests": []} if is_call else {}
                exchange._receive({"id": message["id"], "ok": ok})


class World:
    """What happened: per life of the copy the calls that it was sent."""

    def __init__(self):
        self.lives: list[list[int]] = []
        self.deadly: set[int] = set()
        self.unanswered: set[int] = set()
        self.deadly_operations: set[str] = set()
        self.is_unreachable = False
        self.start_error: Exception | None = None
        self.running = SimpleNamespace(
            copy=FakeCopy(self), tag="policy", fate=Fate(), links=set(), is_gone=False
        )
        self.running.is_due = self.is_due

    def kills(self, x):
        return x in self.deadly

    async def is_due(self):
        return False

    async def replace(self, tag):
        if self.start_error is not None:
            raise self.start_error
        self.running.copy = FakeCopy(self)

    async def connect(self, workers, retries=2):
        self.recovery = Recovery(
            self.running, self, digest=lambda tool, outputs, at: b"d" * 16, retries=retries
        )
        return [await self.recovery.connect(worker) for worker in range(workers)]


def call(link, x):
    fields = {"tool": "act", "inputs": {"x": x}, "budget_seconds": math.inf}
    return link.call(path="act", turns=(x,), take=lambda reply: reply["outputs"]["x"], **fields)


async def settle(*answers):
    async with asyncio.timeout(HANG_SECONDS):
        return await asyncio.gather(*answers, return_exceptions=True)


async def test_calls_under_way_at_a_death_are_answered_by_a_fresh_copy():
    world = World()
    links = await world.connect(3)
    world.unanswered = {0, 1, 2}
    answers = [call(link, x) for x, link in enumerate(links)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    world.unanswered = set()
    world.running.copy.kill()
    assert await settle(*answers) == [0, 1, 2]
    assert sorted(world.lives[1]) == [0, 1, 2]


async def test_the_call_that_kills_the_copy_fails_alone_after_so_many_deaths():
    world = World()
    links = await world.connect(4)
    world.deadly = {2}
    outcomes = await settle(*(call(link, x) for x, link in enumerate(links)))
    assert [outcomes[x] for x in (0, 1, 3)] == [0, 1, 3]
    error = outcomes[2]
    assert isinstance(error, CopyFailedError)
    assert (error.is_spent, error.call.turns, error.death.status) == (True, (2,), -11)
    assert "under way at 3 deaths" in str(error)
    assert world.lives == [[0, 1, 2], [2], [3, 2], []], "one at a time, the less suspect first"


async def test_without_retries_the_first_death_fails_what_was_under_way_alone():
    world = World()
    (link,) = await world.connect(1, retries=0)
    world.deadly = {0}
    (error,) = await settle(call(link, 0))
    assert error.is_spent
    assert await settle(call(link, 1)) == [1]


async def test_without_retries_the_company_of_a_deadly_call_is_answered():
    world = World()
    links = await world.connect(4, retries=0)
    world.deadly = {1}
    outcomes = await settle(*(call(link, x) for x, link in enumerate(links)))
    assert [outcomes[x] for x in (0, 2, 3)] == [0, 2, 3]
    assert outcomes[1].is_spent


@pytest.mark.parametrize("workers", [1, 2, 8])
async def test_where_every_call_kills_the_copy_each_fails_after_its_own_deaths(workers):
    world = World()
    links = await world.connect(workers)
    world.deadly = set(range(24))
    outcomes = []
    for first in range(0, 24, workers):
        calls = [call(link, first + at) for at, link in enumerate(links)]
        outcomes += await settle(*calls)
    assert all("under way at 3 deaths" in str(error) for error in outcomes)
    assert len(outcomes) == 24


async def test_copies_that_end_before_they_can_be_called_do_not_follow_each_other_for_ever():
    world = World()
    links = await world.connect(2)
    world.is_unreachable = True
    world.running.copy.kill()
    with pytest.raises(CopyStartError, match="6 copies in a row ended before"):
        await link_opens(links[1])


async def test_what_no_copy_lives_to_answer_fails_at_last():
    world = World()
    (link,) = await world.connect(1)
    world.deadly_operations = {"close_episode"}
    await link_opens(link)
    with pytest.raises(CopyFailedError):
        async with asyncio.timeout(HANG_SECONDS):
            await link.close_episode()
    world.deadly_operations = set()
    assert await settle(call(link, 1)) == [1], "the next attempt finds a copy"


async def test_new_calls_wait_while_others_are_under_suspicion():
    world = World()
    links = await world.connect(2)
    world.deadly = {0}
    first = call(links[0], 0)
    await asyncio.wait([world.running.copy.exited], timeout=HANG_SECONDS)
    assert world.recovery.is_holding
    second = call(links[1], 1)
    assert (await settle(first, second))[1] == 1
    assert all(1 not in life for life in world.lives[:-1])


async def test_a_suspect_that_nobody_waits_for_is_not_sent_again():
    world = World()
    links = await world.connect(2)
    world.unanswered = {0, 1}
    answers = [call(link, x) for x, link in enumerate(links)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    world.unanswered = set()
    world.running.copy.kill()
    answers[0].cancel()
    assert (await settle(answers[1])) == [1]
    assert world.lives[1] == [1]


async def test_an_open_episode_goes_on_with_all_its_digests():
    world = World()
    (link,) = await world.connect(1)
    await link.open_episode({"id": "3"})
    assert await settle(call(link, 0)) == [0]
    world.running.copy.kill()
    assert await settle(call(link, 1)) == [1]
    world.running.copy.kill()
    async with asyncio.timeout(HANG_SECONDS):
        firings = await link.close_episode()
    assert [(path, turns) for path, turns, _ in firings] == [("act", (0,)), ("act", (1,))]


async def test_a_copy_that_can_not_be_started_again_fails_everybody_with_that_reason():
    world = World()
    links = await world.connect(2)
    world.deadly, world.start_error = {0}, CopyStartError("no licence")
    errors = await settle(*(call(link, x) for x, link in enumerate(links)))
    assert isinstance(errors[0], CopyStartError)
    with pytest.raises(CopyStartError, match="no licence"):
        await link_opens(links[1])


async def link_opens(link):
    async with asyncio.timeout(HANG_SECONDS):
        await link.open_episode({"id": "4"})
