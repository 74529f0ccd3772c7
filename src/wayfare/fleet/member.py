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
from wayfare.fleet.launcher import Copy, CopySpec, Link
from wayfare.fleet.place import CopyPlace, Placement


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
class RunningCopy:
    """One copy of a member, the one that stands in its place now, and its counters."""

    member: Member
    place: CopyPlace
    copy: Copy
    control: Link
    calls: int = 0
    preflights: int = 0
    restarts: int = 0
    warm_tools: set[str] = field(default_factory=set)
    """Tools that have answered once since it started: their first-call budget is over."""
    is_doomed: bool = False
    """Whether it was killed for a call past its budget; its end may not have been told yet."""
    failed_starts: int = 0
    """How often in a row a fresh one has failed to become ready for a reason of its own."""
    replacing: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def tag(self) -> str:
        """Return the copy's tag."""
        return self.place.tag

    def budget_seconds(self, name: str) -> float:
        """Return the budget called `name` that the nodeset's deployment sets."""
        return self.member.declaration.deployment.budget_seconds(name)

    def doom(self) -> None:
        """Kill it: it is past a budget and has to be replaced."""
        self.is_doomed = True
        self.copy.kill()

    def take_over(self, fresh: RunningCopy) -> None:
        """Put a copy that is ready in the place of the one that stands here."""
        self.copy, self.control = fresh.copy, fresh.control
        self.warm_tools.clear()
        self.is_doomed = False
        self.failed_starts = 0
        self.restarts += 1

    @property
    def is_gone(self) -> bool:
        """Return whether it is dead, unreachable or about to be."""
        return self.is_doomed or self.control.is_lost or self.copy.death() is not None
