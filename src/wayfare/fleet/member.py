"""Say what one nodeset of a graph is, and what stands in the place of each of its copies.

Knows nothing of workers' episodes or of where copies run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nodeset.source import Declaration
from wayfare.fleet.errors import Verdict
from wayfare.fleet.exchange import Exchange
from wayfare.fleet.launcher import Copy, CopySpec
from wayfare.fleet.place import CopyPlace, Placement

Queues = Mapping[str, Mapping[str, Any]]
"""What a copy says of its batched tools, by their names: what each was given."""
PAUSE_SECONDS = 0.05
MAX_PAUSE_SECONDS = 0.5
"""At every death of a run, however many there are, it goes on top of what a start costs."""
MAX_DOUBLINGS = 10
"""More would change nothing, and leave the range of numbers after many deaths."""


@dataclass(frozen=True, slots=True)
class Member:
    """One nodeset of a graph: what it declares, how it is configured, where its copies stand."""

    declaration: Declaration
    path: Path
    config: Mapping[str, Any]
    placement: Placement

    @property
    def instance(self) -> str:
        """Return its name in the graph."""
        return self.placement.nodeset

    def spec(self, tag: str) -> CopySpec:
        """Return what a launcher needs to start the copy of that tag."""
        return CopySpec(
            instance=self.instance,
            name=self.declaration.name,
            tag=tag,
            file=self.path,
            config=self.config,
            deployment=self.declaration.deployment,
            default_threads=self.placement.default_threads,
        )


@dataclass(slots=True)
class Fate:
    """How it went with those that stood in one place.

    Starts that fail in a row end the run. Deaths only put the next start off: each belongs to what
    was under way, and how many come in a row depends on the number of workers.
    """

    failed_starts: int = 0
    """How often in a row a fresh one has failed to become ready for a reason of its own."""
    killed_starts: int = 0
    """How often in a row a fresh one was killed before it was ready."""
    deaths: int = 0
    """How many died since the last time that one served an episode to its end."""
    last_pid: int = 0
    """The last one whose death was counted."""
    first_cause: str = ""
    """What befell the last one that was ready, or what the first start that failed came to."""

    def note_death(self, pid: int, cause: str) -> None:
        """Count the death of one that had been ready, once."""
        if pid == self.last_pid:
            return
        self.last_pid = pid
        self.deaths += 1
        self.first_cause = self.first_cause or cause

    def note_start(self) -> None:
        """Note that one has become ready."""
        self.failed_starts = self.killed_starts = 0
        self.first_cause = ""

    def note_success(self) -> None:
        """Note that one has served an episode to its end."""
        self.deaths = 0

    def pause_seconds(self) -> float:
        """Return how long the next start is put off: longer with each death in a row."""
        in_row = self.deaths + self.failed_starts + self.killed_starts
        doublings = min(in_row - 2, MAX_DOUBLINGS)
        return min(MAX_PAUSE_SECONDS, PAUSE_SECONDS * 2**doublings) if in_row > 1 else 0.0


@dataclass(slots=True)
class RunningCopy:
    """One copy of a member, the one that stands in its place now, and its counters."""

    member: Member
    place: CopyPlace
    copy: Copy
    control: Exchange
    calls: int = 0
    preflights: int = 0
    restarts: int = 0
    """How often a fresh one took the place of one that had died."""
    recycled: int = 0
    """How often a fresh one took the place of one that had served for long enough."""
    said: list[Queues] = field(default_factory=list)
    """What those that were recycled said of their batched tools before they went."""
    episodes: int = 0
    """Episodes that the one that stands here now was opened for."""
    ended: int = 0
    """Calls of author code that have ended in it, when it was last looked at."""
    ended_seconds: float = 0.0
    """How long these took, added up."""
    is_doomed: bool = False
    """Whether it was killed on purpose; its end may not have been told yet."""
    fate: Fate = field(default_factory=Fate)
    links: set[Exchange] = field(default_factory=set)
    """The workers' ways to the one that stands here now."""
    replacing: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def tag(self) -> str:
        """Return the copy's tag."""
        return self.place.tag

    def budget_seconds(self, name: str) -> float:
        """Return the budget called `name` that the nodeset's deployment sets."""
        return self.member.declaration.deployment.budget_seconds(name)

    def doom(self, verdict: Verdict | None = None) -> None:
        """Kill it: it has to be replaced."""
        self.is_doomed = True
        self.copy.kill(verdict)

    def note_death(self) -> None:
        """Count the death of the one that stands here, if it has died."""
        death = self.copy.death()
        if death is not None:
            self.fate.note_death(death.pid, death.describe())

    def take_over(self, fresh: RunningCopy) -> None:
        """Put a copy that is ready in the place of the one that stands here."""
        self.copy, self.control = fresh.copy, fresh.control
        self.is_doomed = False
        self.episodes = self.ended = 0
        self.ended_seconds = 0.0
        self.links.clear()
        self.fate.note_start()

    async def is_due(self) -> bool:
        """Return whether it has served for long enough and should be recycled before more."""
        deployment = self.member.declaration.deployment
        if deployment.max_episodes is not None and self.episodes >= deployment.max_episodes:
            return True
        limit = deployment.memory_limit
        return limit is not None and await self.copy.measure_memory() > limit

    @property
    def is_gone(self) -> bool:
        """Return whether it is dead, unreachable or about to be."""
        return self.is_doomed or self.control.is_lost or self.copy.death() is not None
