"""Who calls a copy, and one call of one of its tools.

Knows nothing of sockets, of queues or of the tool's code.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

from nodeset.context import NO_EPISODE, Context, EpisodeContext
from nodeset.errors import NodeSetError
from nodeset.habit import Itinerary, Wave

Logs = List[Tuple[str, Any]]
Outcome = Union[Dict[str, Any], NodeSetError]
"""A call's outputs by port name, or its error."""


class CancelledCallError(NodeSetError):
    """The call was withdrawn, or its connection ended, before its tool returned."""

    @classmethod
    def of(cls, call: Call) -> CancelledCallError:
        """Return the error of a withdrawn call."""
        return cls(f"call {call.id} of tool {call.tool!r} was cancelled")


@dataclass(eq=False)
class Caller:
    """One connection: at most one worker with at most one open episode.

    `waiting` counts the calls that wait or run at this copy, whatever their tool.
    """

    worker: int = -1
    episode: EpisodeContext = NO_EPISODE
    has_open_episode: bool = False
    is_connected: bool = True
    waiting: int = 0
    digests: List[Tuple[int, bytes]] = field(default_factory=list)
    itinerary: Itinerary = field(default_factory=Itinerary)

    def take_digests(self) -> List[List[Any]]:
        """Return the digests that are ready and not yet handed over."""
        taken, self.digests = self.digests, []
        return [list(pair) for pair in taken]


@dataclass(eq=False)
class Call:
    """One call of a tool. `config` lies over the tool's defaults already.

    `answer` is called once, from the thread that runs author code, with the outcome and the pairs
    that the tool logged. A call that `is_dropped` is not dispatched any more. `key` is where it
    waited to be batched, `wave` what those have in common that are served with it.
    """

    caller: Caller
    id: int
    tool: str
    path: str
    config: Mapping[str, Any]
    inputs: Dict[str, Any]
    answer: Callable[[Call, Outcome, Logs], None]
    step: int = 0
    turns: Tuple[int, ...] = ()
    seed: int = 0
    episode: EpisodeContext = NO_EPISODE
    arrived_at: float = 0.0
    key: Any = None
    wave: Optional[Wave] = None
    is_dropped: bool = False

    def finish(self, outcome: Outcome, logs: Logs, now: float) -> None:
        """Answer a call that waited at `key`, after noting when and together with whom."""
        self.caller.itinerary.leave(self.key, now, self.wave)
        self.answer(self, outcome, logs)

    def make_context(self) -> Context:
        """Return a fresh context, so that a call that runs again starts where the first did."""
        return Context(
            dict(self.config), self.episode, turns=self.turns, step=self.step, seed=self.seed
        )
