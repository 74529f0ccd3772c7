"""Do jobs one after the other on a thread, and let those who bring more than it can do wait.

Knows nothing of what the jobs are.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

MAX_HELD_BYTES = 32 * 2**20
"""What jobs may hold before the next one has to wait."""
CLOSE_SECONDS = 60.0

_Result = TypeVar("_Result")
Job = Callable[[], object]


class Lane:
    """A thread and its queue; made where an event loop runs, and ended by `close`.

    What a job raises is raised to those who bring further ones, and by `check`.
    """

    def __init__(self, name: str, max_held_bytes: int = MAX_HELD_BYTES) -> None:
        self._loop = asyncio.get_running_loop()
        self._max_held_bytes = max_held_bytes
        self._queue: SimpleQueue[tuple[Job, int] | None] = SimpleQueue()
        self._guard = threading.Lock()
        self._held_bytes = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._fault: Exception | None = None
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    async def put(self, job: Job, held_bytes: int) -> None:
        """Queue a job that holds so many bytes, once there is room for them.

        A job that holds more than there is room for is let in alone. Cancelled while it waits, it
        queues nothing.
        """
        self.check()
        while (room := self._admit(held_bytes)) is not None:
            await room
        self._queue.put((job, held_bytes))

    def put_now(self, job: Job) -> None:
        """Queue a job that holds nothing."""
        self._queue.put((job, 0))

    def check(self) -> None:
        """Raise the first thing that a job raised, if one did."""
        if self._fault is not None:
            raise self._fault

    async def call(self, job: Callable[[], _Result]) -> _Result:
        """Return what the job returns, or raise what it raises, after all queued before it."""
        answer: asyncio.Future[_Result] = self._loop.create_future()

        def run() -> None:
            try:
                result = job()
            except Exception as error:  # noqa: BLE001  raised to the caller
                self._tell(_fail, answer, error)
            else:
                self._tell(_succeed, answer, result)

        self.put_now(run)
        return await answer

    async def close(self, seconds: float = CLOSE_SECONDS) -> bool:
        """End the thread after what is queued; return whether it ended within `seconds`."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join, seconds)
        return not self._thread.is_alive()

    def _admit(self, held_bytes: int) -> asyncio.Future[None] | None:
        """Make room for a job; None, or what is set when there may be room."""
        with self._guard:
            wanted = self._held_bytes + held_bytes
            if not self._held_bytes or wanted <= self._max_held_bytes:
                self._held_bytes = wanted
                return None
            room: asyncio.Future[None] = self._loop.create_future()
            self._waiting.append(room)
            return room

    def _work(self) -> None:
        while (queued := self._queue.get()) is not None:
            job, held_bytes = queued
            try:
                job()
            except Exception as error:  # noqa: BLE001  `check` raises it
                self._fault = self._fault or error
            del queued, job  # a thread that waits must not hold a frame
            self._release(held_bytes)

    def _release(self, held_bytes: int) -> None:
        with self._guard:
            self._held_bytes -= held_bytes
            waiting, self._waiting = self._waiting, []
        for room in waiting:
            self._tell(_succeed, room, None)

    def _tell(self, settle: Callable[..., None], future: asyncio.Future[Any], value: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(settle, future, value)


def _succeed(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _fail(future: asyncio.Future[Any], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
