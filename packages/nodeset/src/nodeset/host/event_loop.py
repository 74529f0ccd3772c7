"""Run coroutines of the author on one event loop in a thread of its own.

Knows nothing of what they are for.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from concurrent.futures import Future
from typing import Any, Awaitable, Callable, Optional

_STOP_SECONDS = 2.0


class EventLoopThread:
    """One event loop, started with the first coroutine. Only one thread may use this object."""

    def __init__(self) -> None:
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._thread: Optional[threading.Thread] = None

    def wait(self, awaitable: Awaitable[Any]) -> Any:
        """Return the result of `awaitable`; nothing else of the calling thread runs meanwhile."""
        return self.start(awaitable, lambda _: None).result()

    def start(self, awaitable: Awaitable[Any], done: Callable[[Future[Any]], None]) -> Future[Any]:
        """Start `awaitable`; `done` is called with its future, from the loop's thread."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=_run, args=(self._loop,), name="nodeset-async", daemon=True
            )
            self._thread.start()
        future = asyncio.run_coroutine_threadsafe(_await(awaitable), self._loop)
        future.add_done_callback(done)
        return future

    def stop(self) -> None:
        """Cancel what still runs and end the thread; nothing if it does not run."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        self._loop = self._thread = None
        stopping = asyncio.run_coroutine_threadsafe(_cancel_others(), loop)
        try:
            stopping.result(_STOP_SECONDS)
        except concurrent.futures.TimeoutError:  # a coroutine heeds no cancellation
            stopping.cancel()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(_STOP_SECONDS)
            if not thread.is_alive():
                loop.close()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped; a task's `SystemExit` ends that task alone."""
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):  # the task's future has it, which is yet to be told
            continue
        return


async def _await(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
