"""Where calls are short, few workers at a time call their own copies; where they are long, all."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from tests.deadline import HANG_SECONDS

from wayfare.fleet.admission import LEAST, LOOK_SECONDS, SLICE_SECONDS, Admission, admit
from wayfare.fleet.place import place
from wayfare.fleet.request import make_call

WORKERS = LEAST + 4


class FakeClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass(eq=False)
class FakeExchange:
    """Keeps what is sent until `answer`; stands for the socket and the copy behind it."""

    sent: list[Any] = field(default_factory=list)
    called: asyncio.Event = field(default_factory=asyncio.Event)
    is_lost = False

    def call(self, **call: Any) -> Any:
        request = make_call(**call)
        self.resend(request)
        return request

    def resend(self, request: Any) -> None:
        self.sent.append(request)
        self.called.set()

    def answer(self) -> None:
        request = self.sent.pop()
        request.set_result(request.take({"ok": True}))

    def request(self, *_: Any, **__: Any) -> None:
        raise AssertionError("no operation is asked for here")

    open_episode = close_episode = close = request


class House:
    """WORKERS workers, each with a link to its own copy, whose calls took `seconds` so far."""

    def __init__(self, seconds: float) -> None:
        self.clock = FakeClock()
        self.copies = [
            SimpleNamespace(ended=10, ended_seconds=10 * seconds) for _ in range(WORKERS)
        ]
        self.admission = Admission(self.copies, WORKERS, clock=self.clock)
        self.exchanges = [FakeExchange() for _ in range(WORKERS)]
        self.links = [self.admission.link(e, i) for i, e in enumerate(self.exchanges)]

    def call(self, worker: int) -> Any:
        return self.links[worker].call(path="n", turns=(0,), tool="step")

    def call_all(self) -> list[Any]:
        return [self.call(worker) for worker in range(WORKERS)]

    def calling(self) -> set[int]:
        return {worker for worker, exchange in enumerate(self.exchanges) if exchange.sent}

    async def wait_until_calling(self, *workers: int) -> None:
        async with asyncio.timeout(HANG_SECONDS):
            for worker in workers:
                await self.exchanges[worker].called.wait()

    async def settle(self) -> set[int]:
        """Let what is due happen; return who calls then."""
        for _ in range(3):
            await asyncio.sleep(0)
        return self.calling()


@pytest.fixture
async def house() -> House:
    return House(0.0)


async def test_so_many_workers_call_at_a_time_as_keep_the_main_process_busy(house):
    house.call_all()
    assert await house.settle() == set(range(LEAST))


async def test_nobody_waits_where_calls_are_long():
    house = House(0.010)
    house.call_all()
    assert await house.settle() == set(range(WORKERS))


async def test_the_longer_the_calls_the_more_workers_call():
    house = House(0.000_050)
    house.call_all()
    assert await house.settle() == set(range(LEAST + 2))


async def test_who_calls_again_at_once_goes_on_before_those_that_wait(house):
    house.call_all()
    await house.settle()
    for _ in range(5):
        house.exchanges[0].answer()
        house.call(0)
        assert await house.settle() == set(range(LEAST))


async def test_who_has_nothing_to_call_makes_room_for_the_one_that_has_waited_longest(house):
    house.call_all()
    await house.settle()
    house.exchanges[3].answer()
    assert await house.settle() == set(range(LEAST + 1)) - {3}


async def test_who_has_called_for_long_enough_stands_behind_those_that_wait(house):
    house.call_all()
    await house.settle()
    house.clock.now += SLICE_SECONDS + 0.001
    house.exchanges[0].answer()
    again = house.call(0)
    assert await house.settle() == set(range(1, LEAST + 1))
    for worker in range(1, LEAST + 1):
        house.exchanges[worker].answer()
    assert 0 in await house.settle()
    house.exchanges[0].answer()
    assert again.result() == {"ok": True}


async def test_a_slice_ends_though_calls_of_another_branch_are_under_way(house):
    house.call_all()
    await house.settle()
    house.clock.now += SLICE_SECONDS + 0.001
    house.call(0)  # beside one that is not answered yet
    assert await house.settle() == set(range(LEAST + 1))
    assert len(house.exchanges[0].sent) == 1
    for worker in range(5):
        house.exchanges[worker].answer()
    assert await house.settle() == set(range(WORKERS)) - {1, 2, 3, 4}


async def test_who_waits_long_for_its_copy_holds_up_nobody(house):
    house.call_all()
    await house.settle()
    house.clock.now += 0.1
    await house.wait_until_calling(*range(WORKERS))


async def test_a_call_that_is_given_up_while_it_waits_is_not_sent(house):
    calls = house.call_all()
    await house.settle()
    calls[LEAST].cancel()
    house.exchanges[0].answer()
    house.exchanges[1].answer()
    assert await house.settle() == set(range(2, LEAST + 2)) - {LEAST}


async def test_the_place_of_a_call_that_has_failed_is_given_away(house):
    calls = house.call_all()
    await house.settle()
    house.exchanges[0].sent.clear()
    calls[0].set_exception(RuntimeError("the copy died"))
    house.clock.now += 0.1
    await house.wait_until_calling(LEAST)
    assert isinstance(calls[0].exception(), RuntimeError)


async def test_when_calls_become_long_all_that_wait_go(house):
    house.call_all()
    await house.settle()
    for copy in house.copies:
        copy.ended += 10
        copy.ended_seconds += 0.1
    house.clock.now += LOOK_SECONDS
    house.exchanges[0].answer()
    house.call(0)
    assert await house.settle() == set(range(WORKERS))


async def test_a_fresh_copy_whose_counters_begin_anew_changes_nothing(house):
    house.call_all()
    await house.settle()
    for copy in house.copies:
        copy.ended, copy.ended_seconds = 1, 0.5
    house.clock.now += LOOK_SECONDS
    house.exchanges[0].answer()
    house.call(0)
    assert len(await house.settle()) == LEAST


@pytest.mark.parametrize(
    ("modes", "workers", "waits"),
    [
        (["replicated"], LEAST, False),
        (["replicated"], LEAST + 1, True),
        (["replicated", "replicated"], LEAST + 1, True),
        (["replicated", "shared"], 64, False),
    ],
)
async def test_workers_wait_only_where_they_are_many_and_share_nothing(modes, workers, waits):
    placements = [place(f"nodeset_{mode}", mode, workers) for mode in modes]
    copies = [SimpleNamespace(member=SimpleNamespace(placement=found)) for found in placements]
    assert (admit(copies, workers) is not None) == waits
