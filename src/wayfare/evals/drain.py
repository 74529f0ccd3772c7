"""Let a run be asked to end early: finish what runs within a time, then stop at once.

Knows nothing of signals or of what runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from wayfare.evals.errors import RunInterruptedError

_Result = TypeVar("_Result")


class Drain:
    """A request to end, given once with a time to finish in; a second one ends at once."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self._at_once = asyncio.Event()
        self._seconds = 0.0

    @property
    def is_asked(self) -> bool:
        """Whether no new episode may begin."""
        return self._asked.is_set()

    def ask(self, seconds: float) -> None:
        """Ask that the run ends within `seconds`; asked again, it ends now."""
        if self._asked.is_set():
            self._at_once.set()
        self._seconds = seconds
        self._asked.set()

    async def unless_asked(self, step: Coroutine[Any, Any, _Result]) -> _Result:
        """Return what `step` returns; give it up and raise RunInterruptedError once asked to end.

        For what comes before the first episode, when there is nothing yet to finish.
        """
        task = asyncio.ensure_future(step)
        asked = asyncio.ensure_future(self._asked.wait())
        try:
            await asyncio.wait([task, asked], return_when=asyncio.FIRST_COMPLETED)
            if not task.done() or (asked.done() and task.exception()):
                raise RunInterruptedError("the run was asked to end before it began")
            return task.result()
        finally:
            task.cancel()
            asked.cancel()
            await asyncio.wait([task, asked])

    @asynccontextmanager
    async def when_over(self, act: Callable[[], None]) -> AsyncIterator[None]:
        """Call `act` when what still runs must be given up, if that is within the context."""

        async def wait() -> None:
            await self.wait_until_over()
            act()

        waiting = asyncio.ensure_future(wait())
        try:
            yield
        finally:
            waiting.cancel()
            await asyncio.wait([waiting])

    async def wait_until_asked(self) -> None:
        """Return when no new episode may begin."""
        await self._asked.wait()

    async def wait_until_over(self) -> None:
        """Return when what still runs must be given up."""
        await self._asked.wait()
        try:
            await asyncio.wait_for(self._at_once.wait(), self._seconds)
        except TimeoutError:
            return
