"""A copy is judged by what it marks and answers, on two looks, and by nothing else."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from nodeset.contract import Deployment
from wayfare.fleet import watch
from wayfare.fleet.errors import CopyFailedError
from wayfare.fleet.launcher import Progress, RunningCall
from wayfare.fleet.watch import Watch, end_stopped


@dataclass
class FakeCopy:
    """Stands for a running copy of which a test says what it is at."""

    progresses: list = field(default_factory=list)
    answers: bool = True
    memory: int = 0
    limit: int | None = None
    oldest: int | None = None
    pid: int = 5
    tag: str = "env"
    verdict: object = None
    is_gone: bool = False

    def __post_init__(self):
        self.copy = self.control = self
        deployment = Deployment(memory_limit=self.limit)
        self.member = SimpleNamespace(declaration=SimpleNamespace(deployment=deployment))

    @property
    def links(self):
        return [SimpleNamespace(oldest_request=self.oldest)]

    async def progress(self):
        return self.progresses.pop(0) if len(self.progresses) > 1 else self.progresses[0]

    async def measure_memory(self):
        return self.memory

    def budget_seconds(self, name):
        return {"call": 1.0, "first_call": 2.0}[name]

    async def request(self, op, *, budget_seconds):
        if not self.answers:
            await asyncio.Event().wait()
        return {}

    def death(self):
        return None

    def kill(self, verdict):
        self.doom(verdict)

    def doom(self, verdict):
        self.verdict, self.is_gone = verdict, True


class OverError(Exception):
    """The watch has been looked at for long enough."""


class Clock:
    """Time that passes where the watch sleeps, and nowhere else; `lag` is added to each sleep."""

    now = 1000.0
    lag = 0.0

    def __init__(self):
        self.is_over = lambda: False

    def monotonic(self):
        return self.now

    async def sleep(self, seconds):
        if self.is_over():
            raise OverError
        self.now += seconds + self.lag
        for _ in range(5):  # who has something to answer does so
            await asyncio.sleep(0)


@pytest.fixture
def clock(monkeypatch):
    """Give the watch a clock of its own."""
    found = Clock()
    own = SimpleNamespace(sleep=found.sleep, create_task=asyncio.create_task)
    monkeypatch.setattr(watch, "time", found)
    monkeypatch.setattr(watch, "asyncio", own)
    return found


@pytest.fixture
def look(clock):
    """Give a function that has a copy watched until it is doomed, or for so long."""

    async def run(copy, seconds=60):
        ends = clock.now + seconds
        clock.is_over = lambda: copy.verdict or clock.now > ends
        with suppress(OverError):
            await Watch({"env": copy}).run()
        return copy.verdict and (copy.verdict.cause, copy.verdict.text)

    return run


def at(seconds, name="env__step", budget="call", ended=0, **more):
    return Progress((RunningCall(name, budget, seconds, **more),), ended)


async def test_a_call_past_its_budget_is_seen_twice_before_it_costs_the_copy(look):
    cause, text = await look(FakeCopy([at(1.1, rows=8)]))
    assert cause == "budget"
    assert text.startswith("its 'step' for 8 calls had run for 1.1 s")


async def test_how_long_calls_took_is_kept_with_the_copy(look):
    copy = FakeCopy([Progress(ended=40, ended_seconds=0.5)])
    await look(copy, seconds=1)
    assert (copy.ended, copy.ended_seconds) == (40, 0.5)


async def test_one_torn_reading_costs_nothing(look):
    copy = FakeCopy([*[at(0.1)] * 10, at(99.0), at(0.1), at(99.0, "env__look"), at(0.2)])
    assert await look(copy) is None


async def test_a_first_call_has_its_own_budget(look):
    assert await look(FakeCopy([at(1.5, budget="first_call")])) is None


async def test_a_copy_at_rest_that_answers_stays(look):
    assert await look(FakeCopy([Progress()])) is None


async def test_a_copy_that_answers_nothing_while_nothing_runs_is_silent(look):
    cause, text = await look(FakeCopy([Progress()], answers=False))
    assert (cause, text) == ("silence", "it did and answered nothing for 10 s.")


async def test_a_copy_in_which_a_call_runs_need_not_answer(look):
    assert await look(FakeCopy([at(0.5)], answers=False)) is None


async def test_a_stopped_copy_is_silent_though_a_call_runs(look):
    stopped = Progress((RunningCall("env__step", "call", 0.5),), is_stopped=True)
    cause, _ = await look(FakeCopy([stopped], answers=False))
    assert cause == "silence"


async def test_a_copy_that_answers_but_does_not_begin_what_it_was_sent_is_silent(look):
    cause, text = await look(FakeCopy([Progress()], oldest=7))
    assert (cause, text) == ("silence", "for 10 s it did not begin what it was sent.")


async def test_a_copy_that_grows_far_beyond_its_limit_is_ended_and_a_little_beyond_it_not(look):
    assert await look(FakeCopy([at(0.1)], memory=149, limit=100)) is None
    cause, text = await look(FakeCopy([at(0.1)], memory=151, limit=100))
    assert cause == "memory"
    assert "held 151 bytes" in text


async def test_time_in_which_this_process_stood_still_counts_for_no_call(look, clock):
    clock.lag = 3.0  # every look comes late
    assert await look(FakeCopy([at(99.0)])) is None


async def test_a_ping_that_a_dead_copy_fails_is_no_verdict(look):
    copy, asked = FakeCopy([Progress()]), []

    async def fail(op, *, budget_seconds):
        asked.append(op)
        raise CopyFailedError("gone")

    copy.request = fail
    assert await look(copy, seconds=5) is None
    assert asked == ["health", "health"]


async def test_a_copy_that_stays_stopped_before_it_is_ready_is_killed_and_no_other(clock):
    stopped, resumed = Progress(is_stopped=True), Progress()
    copy, other = FakeCopy([stopped]), FakeCopy([stopped, stopped, resumed], pid=6)
    copies: list[Any] = [copy, other]
    clock.is_over = lambda: copy.verdict
    with suppress(OverError):
        await end_stopped(copies)
    assert copy.verdict.text == "it was stopped for 10 s before it was ready."
    assert other.verdict is None
