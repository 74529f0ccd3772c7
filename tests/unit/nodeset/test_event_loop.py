"""The author's coroutines run beside the main thread, and none of them ends the others' loop."""

from __future__ import annotations

import asyncio

import pytest
from tests.deadline import HANG_SECONDS

from nodeset.host.event_loop import EventLoopThread


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_a_coroutine_that_wants_to_end_the_process_ends_alone(kind: type[BaseException]) -> None:
    async def leave() -> None:
        raise kind

    async def stay() -> str:
        await asyncio.sleep(0)
        return "here"

    thread = EventLoopThread()
    leaving = thread.start(leave(), lambda _: None)
    assert isinstance(leaving.exception(HANG_SECONDS), kind)
    assert thread.start(stay(), lambda _: None).result(HANG_SECONDS) == "here"
    thread.stop()
