"""Hold the running copies of one graph's nodesets, make them ready and count what they do.

Knows nothing of workers' episodes or of where copies run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodeset.errors import NodeSetError
from wayfare.fleet.errors import CopyFailedError, CopyStartError
from wayfare.fleet.launcher import NO_WORKER, Copy, Launcher
from wayfare.fleet.ledger import Ledger, has_batches
from wayfare.fleet.member import Member, Queues, RunningCopy
from wayfare.fleet.place import CopyPlace, Placement
from wayfare.fleet.readiness import (
    Readiness,
    ask_to_start,
    describe_start,
    initialize,
    judge_failed_start,
)
from wayfare.fleet.shutdown import ShutdownFault, shut_down
from wayfare.fleet.together import together
from wayfare.fleet.watch import Watch, end_stopped

CLOSE_SECONDS = 10.0
"""How long copies may take to shut down by themselves before they are killed."""
HASTY_CLOSE_SECONDS = 1.0
"""The same when the run ended by an error or was asked to end early."""
DEATH_SECONDS = 5.0
"""How long a copy that was killed may take to be gone before another takes its place anyhow."""
RECYCLE_SECONDS = 5.0
"""How long a copy may take to shut down that has served for long enough."""
HEALTH_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class CopyCounters:
    """What one copy did in a run."""

    nodeset: str
    tag: str
    pid: int
    workers: tuple[int, ...]
    calls: int
    preflights: int
    restarts: int
    recycled: int = 0


class Fleet:
    """The copies of one graph's nodesets; closing it shuts them down."""

    def __init__(
        self,
        members: Mapping[str, Member],
        copies: Mapping[str, RunningCopy],
        manifests: Mapping[str, dict[str, Any]],
        *,
        worker_count: int,
        launcher: Launcher,
    ) -> None:
        self.members = members
        self.copies = copies
        self.manifests = manifests
        """Instance name -> manifest, in the names that the instance has in the graph."""
        self.worker_count = worker_count
        self._launcher = launcher
        self.readiness = Readiness(copies, self.replace)
        self.shutdown_faults: list[ShutdownFault] = []
        """Of all copies that were shut down so far."""
        self._ledger = Ledger()
        self._watch: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, members: Sequence[Member], worker_count: int, launcher: Launcher) -> Fleet:
        """Start all copies side by side and get each nodeset's manifest from its first copy.

        Raises the first CopyStartError or FleetSetupError; the rest is ended then.
        """
        places = [(member, spot) for member in members for spot in member.placement.copies]
        async with _Starting(launcher) as starting:
            running = await together(starting.start(member, spot) for member, spot in places)
            copies = {copy.tag: copy for copy in running}
            manifests = await together(
                _fetch_manifest(starting, copies, member) for member in members
            )
        return cls(
            {member.instance: member for member in members},
            copies,
            {
                member.instance: manifest
                for member, manifest in zip(members, manifests, strict=True)
            },
            worker_count=worker_count,
            launcher=launcher,
        )

    async def __aenter__(self) -> Fleet:
        self._watch = asyncio.create_task(Watch(self.copies).run(), name="watch over copies")
        self._watch.add_done_callback(_tell_failure)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        await self.close(CLOSE_SECONDS if kind is None else HASTY_CLOSE_SECONDS)

    @property
    def placements(self) -> dict[str, Placement]:
        """Return every nodeset's placement by its name in the graph."""
        return {name: member.placement for name, member in self.members.items()}

    async def initialize_all(self) -> None:
        """Make every copy ready, all at once. Raises CopyStartError, or the author's error."""
        self.readiness.begin()
        await together(self.readiness.wait_for(worker) for worker in range(self.worker_count))

    async def list_episodes(self, instance: str, split: str) -> list[dict[str, Any]]:
        """Return the episodes that a nodeset brings for a split, in its order."""
        running = self._first_copy(instance)
        try:
            reply = await ask_to_start(running, "episodes", split=split)
        except CopyStartError as error:
            if not error.was_killed:
                raise
            await self.replace(running.tag)
            reply = await ask_to_start(running, "episodes", split=split)
        episodes: list[dict[str, Any]] = reply["episodes"]
        return episodes

    async def replace(self, tag: str) -> None:
        """Put a fresh, ready copy in the place of one that is dead; nothing if it lives.

        Raises CopyFailedError when that may go well the next time, FleetSetupError when it won't.
        """
        running = self.copies[tag]
        async with running.replacing:
            if running.is_gone:
                running.copy.kill()
                await asyncio.wait([running.copy.exited], timeout=DEATH_SECONDS)
                running.note_death()
                await self._put_fresh(running)
                running.restarts += 1

    async def recycle(self, tag: str) -> None:
        """Put a fresh, ready copy in the place of one that has served for long enough.

        Nothing may be under way there. Raises as `replace`.
        """
        running = self.copies[tag]
        async with running.replacing:
            if not running.is_gone:
                await self._ledger.hear(running, HEALTH_SECONDS)
                running.is_doomed = True
                await self._shut_down([running], RECYCLE_SECONDS)
                await self._put_fresh(running)
                running.recycled += 1

    async def _put_fresh(self, running: RunningCopy) -> None:
        await asyncio.sleep(running.fate.pause_seconds())
        try:
            async with _Starting(self._launcher) as starting:
                fresh = await starting.start(running.member, running.place)
                await initialize(fresh)
        except (CopyStartError, NodeSetError) as error:
            raise judge_failed_start(running, error) from error
        running.take_over(fresh)
        self._ledger.note_gone(running.tag)

    def list_counters(self) -> list[CopyCounters]:
        """Return the counters of every copy."""
        return [
            CopyCounters(
                nodeset=running.member.instance,
                tag=running.tag,
                pid=running.copy.pid,
                workers=running.place.workers,
                calls=running.calls,
                preflights=running.preflights,
                restarts=running.restarts,
                recycled=running.recycled,
            )
            for running in self.copies.values()
        ]

    async def fetch_queues(self, seconds: float = HEALTH_SECONDS) -> dict[str, list[Queues | None]]:
        """Return what the copies in each place say of their batched tools, by tag.

        Those that were recycled have said it before they went; None stands for each that died or
        does not answer. Places of nodesets without batched tools are left out.
        """
        batched = {name for name, manifest in self.manifests.items() if has_batches(manifest)}
        copies = [copy for copy in self.copies.values() if copy.member.instance in batched]
        return await self._ledger.fetch(copies, seconds)

    async def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Ask every copy to shut down, then end those that have not within `seconds`.

        A second call does nothing.
        """
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait([self._watch])
        await self.readiness.end()
        await self._shut_down(list(self.copies.values()), seconds)

    async def _shut_down(self, copies: Sequence[RunningCopy], seconds: float) -> None:
        for fault in await shut_down(copies, seconds):
            if not fault.is_overdue or seconds > HASTY_CLOSE_SECONDS:
                self.shutdown_faults.append(fault)

    def _first_copy(self, instance: str) -> RunningCopy:
        return self.copies[self.members[instance].placement.copies[0].tag]


def _tell_failure(watch: asyncio.Task[None]) -> None:
    """Say at once that nobody watches any more: that is a defect of this program."""
    if not watch.cancelled() and watch.exception() is not None:
        context = {"message": "the watch over copies has failed", "exception": watch.exception()}
        watch.get_loop().call_exception_handler(context)


class _Starting:
    """Copies that are being started; an error on the way ends them all."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._begun: list[Copy] = []

    async def __aenter__(self) -> _Starting:
        self._watch = asyncio.create_task(end_stopped(self._begun), name="watch over starts")
        self._watch.add_done_callback(_tell_failure)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:
            for copy in self._begun:
                copy.kill()
        self._watch.cancel()
        await asyncio.wait([self._watch])

    async def start(self, member: Member, spot: CopyPlace) -> RunningCopy:
        """Return a copy that is alive and can be asked; one that is killed is tried once again."""
        try:
            return await self._start(member, spot)
        except CopyStartError as error:
            if not error.was_killed:
                raise
        return await self._start(member, spot)

    async def _start(self, member: Member, spot: CopyPlace) -> RunningCopy:
        copy = await self._launcher.start(member.spec(spot.tag))
        self._begun.append(copy)
        try:
            control = await copy.connect(NO_WORKER)
        except CopyFailedError as error:
            raise CopyStartError(describe_start(member, error), error.death) from error
        return RunningCopy(member, spot, copy, control)


async def _fetch_manifest(
    starting: _Starting, copies: dict[str, RunningCopy], member: Member
) -> dict[str, Any]:
    """Ask a nodeset's first copy; a fresh one in its place if it is killed meanwhile."""
    spot = member.placement.copies[0]
    try:
        manifest = await ask_to_start(copies[spot.tag], "manifest")
    except CopyStartError as error:
        if not error.was_killed:
            raise
        copies[spot.tag] = await starting.start(member, spot)
        manifest = await ask_to_start(copies[spot.tag], "manifest")
    return rename_instance(manifest, member.instance)


def rename_instance(manifest: dict[str, Any], instance: str) -> dict[str, Any]:
    """Return the manifest with the names that a second instance of a nodeset has in the graph."""
    tools = [{**tool, "node_type": f"{instance}__{tool['name']}"} for tool in manifest["tools"]]
    return {**manifest, "name": instance, "tools": tools}
