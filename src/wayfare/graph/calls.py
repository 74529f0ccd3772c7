"""One call of a tool, and who answers it.

Knows nothing of how calls travel or of what decides that a call is due.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What one firing of a tool node asks of its copy.

    `path` names the node (`sub/inner` within a subgraph), `nodeset` the instance as the graph
    names it, `tool` the short name. `step` is the turn of the outermost loop and `turns` those of
    all loops around the node, outermost first; both count from 0, `step` is 0 outside loops.
    """

    path: str
    nodeset: str
    tool: str
    config: Mapping[str, Any]
    inputs: dict[str, Any]
    step: int
    turns: tuple[int, ...]
    seed: int


class InfrastructureError(Exception):
    """A copy died, hung or was unreachable; no code is at fault and the attempt may be repeated.

    Not if it `is_spent`: then one call has been tried as often as it may be, and failed alone.
    """

    is_spent = False


class Answer(asyncio.Future[Any]):
    """What a call comes to; one listener may hear of it at once.

    A future's callbacks wait for the next iteration of the event loop, of which each costs the
    process a look at all its sockets: a good part of what a call costs.
    """

    __slots__ = ("_listener",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self._listener: Callable[[Answer], None] | None = None

    def listen(self, listener: Callable[[Answer], None] | None) -> None:
        """Have `listener` called when there is an outcome; None: nobody. It must not raise."""
        self._listener = listener
        if listener is not None and self.done():
            self.get_loop().call_soon(self._tell)

    def set_result(self, result: Any) -> None:
        """Settle it, and tell the listener."""
        super().set_result(result)
        self._tell()

    def set_exception(self, exception: type | BaseException) -> None:
        """Settle it with an error, and tell the listener."""
        super().set_exception(exception)
        self._tell()

    def cancel(self, msg: Any | None = None) -> bool:
        """Settle it as cancelled; the listener hears of that in the loop's next iteration."""
        is_cancelled = super().cancel(msg)
        if is_cancelled and self._listener is not None:
            self.get_loop().call_soon(self._tell)
        return is_cancelled

    def _tell(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            listener(self)


class Invoker(Protocol):
    """Answers the calls of one worker's episode."""

    def invoke(self, call: ToolCall) -> Awaitable[dict[str, Any]]:
        """Begin the call and return what will be the tool's outputs by port name.

        Where calls are many, a future is cheaper than a coroutine, which needs a task to run in,
        and an `Answer` is cheaper still.
        Calls that become ready together are begun in one go before anything is awaited, so that
        they can travel together. Cancellation abandons the call. What is awaited raises a
        `NodeSetError` for what the author's code did and `InfrastructureError` for what befell the
        copy.
        """
        ...
