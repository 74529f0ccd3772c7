"""Say what a launcher is asked for and what it hands back: a copy, and links to it.

Knows nothing of where copies run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from nodeset.contract import Deployment
from wayfare.fleet.digests import Firing
from wayfare.fleet.errors import CopyDeath, Verdict
from wayfare.fleet.exchange import Exchange

NO_WORKER = -1
"""The worker number of a link that no worker calls through."""


@dataclass(frozen=True, slots=True)
class CopySpec:
    """One copy to start."""

    instance: str
    """The nodeset's name in the graph."""
    name: str
    """Its name in the file."""
    tag: str
    file: Path
    config: Mapping[str, Any]
    deployment: Deployment
    default_threads: int | None

    @property
    def threads(self) -> int | None:
        """Return the BLAS and OpenMP threads it starts with; None: all cores."""
        return self.deployment.threads or self.default_threads


@dataclass(frozen=True, slots=True)
class RunningCall:
    """A call of author code that runs in a copy, and for how long.

    `name` is the tool or the operation, `budget` the name of the budget that it has, and `rows` how
    many calls the handler sees at once.
    """

    name: str
    budget: str
    seconds: float
    call_id: int = 0
    worker: int = NO_WORKER
    rows: int = 1


@dataclass(frozen=True, slots=True)
class Progress:
    """What a copy is at, as seen from outside: it need not be able to answer for that.

    `ended` counts the author's calls that have ended, which took `ended_seconds` in all; it stands
    for life. `is_stopped`: it was sent SIGSTOP.
    """

    running: tuple[RunningCall, ...] = ()
    ended: int = 0
    ended_seconds: float = 0.0
    is_stopped: bool = False


class Link(Protocol):
    """One worker's way to one copy; at most one episode is open on it."""

    @property
    def is_lost(self) -> bool:
        """Return whether the copy can't be reached through it any more."""
        ...

    async def request(self, op: str, *, budget_seconds: float, **fields: Any) -> dict[str, Any]:
        """Return the reply of one operation.

        Raises the author's errors as they are, CopyFailedError when the copy is gone and
        BudgetExceededError when it does not answer in time. Cancellation abandons the request.
        """
        ...

    def call(
        self,
        *,
        path: str,
        turns: tuple[int, ...],
        budget_seconds: float,
        take: Callable[[dict[str, Any]], Any] | None = None,
        overdue: Callable[[], None] | None = None,
        is_grouped: bool = True,
        **fields: Any,
    ) -> asyncio.Future[Any]:
        """Send one tool call; its digest is kept until the episode closes.

        One that `is_grouped` travels together with what else becomes ready in the same iteration
        of the event loop, so that the copy can put them in one batch; others leave at once.

        The future gets what `take` makes of the reply (the reply itself without it), or what
        `request` would raise; `overdue` is called when the budget has passed. Cancelling the
        future abandons the call.
        """
        ...

    async def open_episode(self, episode: Mapping[str, Any]) -> None:
        """Begin to collect digests; what an earlier episode left is dropped."""
        ...

    async def close_episode(self) -> list[Firing]:
        """Return the digests of all calls since the episode was opened."""
        ...

    async def close(self) -> None:
        """Give the link up; requests under way fail."""
        ...


class Copy(Protocol):
    """A running copy, wherever it runs."""

    @property
    def tag(self) -> str:
        """Return its name: `nodeset` or `nodeset#2`."""
        ...

    @property
    def pid(self) -> int:
        """Return its process id."""
        ...

    @property
    def url(self) -> str:
        """Return where it listens."""
        ...

    @property
    def exited(self) -> asyncio.Future[int]:
        """Return what gets its status when it ends (below 0: the signal's number)."""
        ...

    def death(self) -> CopyDeath | None:
        """Return how it ended, or None while it lives."""
        ...

    async def connect(self, worker: int) -> Exchange:
        """Open a link for a worker. Raises CopyFailedError when the copy ends meanwhile."""
        ...

    async def progress(self) -> Progress | None:
        """Return what it is at without asking it; None if it can't be told from outside.

        A launcher of another machine answers from there, where the copy's page is mapped.
        """
        ...

    async def measure_memory(self) -> int:
        """Return the bytes of anonymous memory that it and all that it started hold."""
        ...

    def kill(self, verdict: Verdict | None = None) -> None:
        """End it at once, with all that it started; the verdict says why in its death."""
        ...


class Launcher(Protocol):
    """Starts copies."""

    async def start(self, spec: CopySpec) -> Copy:
        """Return a started copy, alive but not ready. Raises FleetSetupError."""
        ...

    def keep_logs(self, folder: Path, mask: Callable[[str], str]) -> None:
        """Keep what copies have printed so far in a folder, after `mask`."""
        ...
