"""Signals become a request to end; none that comes after it takes the summary away."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator

import pytest
from tests.deadline import HANG_SECONDS

from wayfare.cli.interrupt import DRAIN_SECONDS, handle_signals


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Put back what the tests replace."""
    before = {number: signal.getsignal(number) for number in DRAIN_SECONDS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("is_in_process", [False, True])
async def test_a_signal_asks_with_its_seconds_and_later_ones_are_ignored(
    is_in_process: bool,
) -> None:
    asked: asyncio.Queue[float] = asyncio.Queue()
    with handle_signals(asked.put_nowait, is_in_process=is_in_process):
        os.kill(os.getpid(), signal.SIGTERM)
        assert await asyncio.wait_for(asked.get(), HANG_SECONDS) == 30
    os.kill(os.getpid(), signal.SIGTERM)
    assert asked.empty()


async def test_in_process_a_signal_repeats_itself_when_its_seconds_are_over() -> None:
    asked: asyncio.Queue[float] = asyncio.Queue()
    with handle_signals(asked.put_nowait, 0.01, is_in_process=True):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(2):
            assert await asyncio.wait_for(asked.get(), HANG_SECONDS) == 0.01
    assert "signals" not in [thread.name for thread in threading.enumerate()]


@pytest.mark.parametrize("is_in_process", [False, True])
async def test_without_a_signal_all_is_as_it_was(is_in_process: bool) -> None:
    signal.signal(signal.SIGTERM, lambda *_: None)
    before = signal.getsignal(signal.SIGTERM)
    with handle_signals(lambda _: None, is_in_process=is_in_process):
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before
