"""One call of a tool, and who answers it.

Knows nothing of how calls travel or of what decides that a call is due.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
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
    """A copy died, hung or was unreachable; no code is at fault and the attempt may be repeated."""


class Invoker(Protocol):
    """Answers the calls of one worker's episode."""

    def invoke(self, call: ToolCall) -> Awaitable[dict[str, Any]]:
        """Begin the call and return what will be the tool's outputs by port name.

        Where calls are many, a future is cheaper than a coroutine, which needs a task to run in.
        Calls that become ready together are begun in one go before anything is awaited, so that
        they can travel together. Cancellation abandons the call. What is awaited raises a
        `NodeSetError` for what the author's code did and `InfrastructureError` for what befell the
        copy.
        """
        ...
