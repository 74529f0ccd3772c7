"""Run the event loop that carries calls: one that stays awake while answers come fast.

Knows nothing of what is run.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from nodeset.spin import SpinningWait

WATCHFUL_SECONDS = 0.010
"""How long the event loop stays awake between answers: a fast environment's or policy's time. It
serves all copies, and once asleep takes 0.2 ms to be as fast again."""

_Result = TypeVar("_Result")


class SpinningSelector(selectors.EpollSelector):
    """Waits as `SpinningWait` does."""

    def __init__(self) -> None:
        super().__init__()
        self._spinning = SpinningWait(super().select, seconds=WATCHFUL_SECONDS)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready, once something is or the seconds have passed."""
        return self._spinning.wait(timeout)


def run(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Return the coroutine's result, as `asyncio.run` does."""
    with asyncio.Runner(loop_factory=_new_event_loop) as runner:
        return runner.run(work)


def _new_event_loop() -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(SpinningSelector())
