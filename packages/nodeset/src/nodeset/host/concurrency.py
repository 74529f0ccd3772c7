"""Run the calls of unbatched `async` tools side by side, up to a bound.

Knows nothing of batches or sockets. Everything but the coroutines runs on the caller's thread.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from functools import partial
from typing import Any, Callable, Deque, Dict, Tuple

from nodeset.author import call_author
from nodeset.caller import Call, CancelledCallError
from nodeset.context import Context
from nodeset.contract import BaseCanvasNode
from nodeset.errors import NodeSetError
from nodeset.host.event_loop import EventLoopThread
from nodeset.host.page import CallPage
from nodeset.rows import check_inputs, check_outputs

MAX_CONCURRENCY = 64


class ConcurrentCalls:
    """The running calls, and those that wait for one of `max_concurrency` places.

    `schedule` brings a step from the loop's thread to the thread that uses this object.
    """

    def __init__(
        self,
        event_loop: EventLoopThread,
        schedule: Callable[[Callable[[], None]], None],
        page: CallPage,
        *,
        max_concurrency: int = MAX_CONCURRENCY,
    ) -> None:
        self._event_loop = event_loop
        self._schedule = schedule
        self._page = page
        self._max_concurrency = max_concurrency
        self._running: Dict[Call, Future[Any]] = {}
        self._waiting: Deque[Tuple[BaseCanvasNode, Call]] = deque()

    @property
    def is_idle(self) -> bool:
        return not self._running and not self._waiting

    def start(self, tool: BaseCanvasNode, call: Call) -> None:
        """Start a call, now or when a place is free."""
        self._waiting.append((tool, call))
        self._fill_places()

    def cancel(self, call: Call) -> None:
        """Cancel the coroutine of a running call; its answer follows."""
        future = self._running.get(call)
        if future is not None:
            future.cancel()

    def give_up(self) -> None:
        """Cancel all calls, those too that wait for a place; their answers follow."""
        for _, call in self._waiting:
            call.is_dropped = True
        for future in list(self._running.values()):
            future.cancel()

    def _fill_places(self) -> None:
        while self._waiting and len(self._running) < self._max_concurrency:
            self._launch(*self._waiting.popleft())

    def _launch(self, tool: BaseCanvasNode, call: Call) -> None:
        if call.is_dropped:
            call.answer(call, CancelledCallError.of(call), [])
            return
        context = call.make_context()
        try:
            coroutine = tool.forward(check_inputs(tool, call.inputs), context)
        except NodeSetError as error:
            call.answer(call, error, [])
            return
        place = self._page.begin_beside(tool.node_type, call.id, call.caller.worker)
        finish = partial(self._finish, tool, call, context, place)
        self._running[call] = self._event_loop.start(
            coroutine, lambda future: self._schedule(partial(finish, future))
        )

    def _finish(
        self, tool: BaseCanvasNode, call: Call, context: Context, place: int, future: Future[Any]
    ) -> None:
        del self._running[call]
        self._page.end_beside(place, tool.node_type)
        try:
            if future.cancelled():
                raise CancelledCallError.of(call)
            result = call_author(future.result, where=f"{tool.node_type}.forward", wait=_never)
            call.answer(call, check_outputs(tool, result), context.logs)
        except NodeSetError as error:
            call.answer(call, error, context.logs)
        self._fill_places()


def _never(awaitable: Any) -> Any:
    """Refuse a second awaitable: what a coroutine returns is the tool's output."""
    return awaitable
