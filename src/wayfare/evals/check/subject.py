"""Start copies of the nodeset that is checked, each under conditions of its own, and ask them.

Knows nothing of properties. Each copy is a process in the nodeset's own interpreter.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from nodeset.context import EpisodeContext
from nodeset.errors import NodeSetError, UnavailableError
from nodeset.host import ExitStatus
from wayfare.evals.check.material import ProbeCall
from wayfare.evals.check.outcome import Outcome
from wayfare.evals.check.verdict import FaultyCodeError
from wayfare.fleet.errors import CopyStartError
from wayfare.fleet.fleet import Fleet
from wayfare.fleet.launcher import Launcher
from wayfare.fleet.member import Member
from wayfare.fleet.place import place
from wayfare.fleet.pool import EnvWorkerPool, WorkerHandle
from wayfare.fleet.registry import NodeSetEntry
from wayfare.fleet.shutdown import ShutdownFault
from wayfare.graph.calls import InfrastructureError

HASH_SEED_VARIABLE = "PYTHONHASHSEED"
CLOCK_SHIFT_SECONDS = 400 * 86400.0 + 7 * 3600 + 13 * 60 + 11
"""Another hour, minute, weekday, month and year."""
MIN_PLACES = 3
CLOCK_SECONDS = 30.0
"""How long a copy may take to change its clock: no author's code runs."""
_AUTHOR_FAULTS = (ExitStatus.IMPORT_FAILED, ExitStatus.INITIALIZE_FAILED)


@dataclass(frozen=True, slots=True)
class Conditions:
    """Under what a copy runs."""

    hash_seed: int = 1
    clock_shift_seconds: float = 0.0


BASE = Conditions()


@dataclass(frozen=True, slots=True)
class Change:
    """An input that a tool changed in place."""

    tool: str
    port: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Served:
    """What became of calls that were served together."""

    rows: list[Outcome]
    changes: list[Change]
    random: list[str]
    """The names of global random states that are other ones now."""


State = Mapping[str, Sequence[Any]]
"""Path -> digest and text of what a nodeset keeps."""


class Subject:
    """One copy of the nodeset that is checked, ready."""

    def __init__(self, fleet: Fleet, worker: WorkerHandle, name: str) -> None:
        self.manifest: Mapping[str, Any] = fleet.manifests[name]
        self._running = fleet.copies[name]
        self._fleet = fleet
        self._worker = worker
        self._name = name

    async def serve(self, calls: Sequence[ProbeCall]) -> Served:
        """Serve calls of one tool: a batched one's in one batch."""
        reply = await self._ask("serve", calls=[call.fields() for call in calls])
        return Served(
            [Outcome.read(row) for row in reply["rows"]],
            [Change(**change) for change in reply["changes"]],
            reply["random"],
        )

    async def begin(self, episode: EpisodeContext) -> None:
        """Begin an episode as a run does: `begin_episode`, then the controller."""
        await self._worker.open_episode(episode)

    async def look(self) -> tuple[State, Mapping[str, bytes]]:
        """Return what the nodeset keeps, and the digests of the global random states."""
        reply = await self._ask("look")
        return reply["state"], reply["random"]

    async def list_concurrent(self) -> list[str]:
        """Return the tools whose calls run beside others."""
        tools: list[str] = (await self._ask("look"))["concurrent"]
        return tools

    async def sample(self, seed: int) -> Mapping[str, Mapping[str, Any]]:
        """Return what the author's `sample_inputs` gives."""
        reply = await self._ask("sample", seed=seed)
        inputs: Mapping[str, Mapping[str, Any]] = reply["inputs"]
        return inputs

    async def list_episodes(self, split: str) -> list[dict[str, Any]]:
        """Return the episodes of a split."""
        return await self._fleet.list_episodes(self._name, split)

    async def ask_controller(self, verb: str, **fields: Any) -> Any:
        """Return what the nodeset's controller answers."""
        seconds = self._running.budget_seconds("first_call")
        reply = await self._running.control.request(
            "controller", verb=verb, budget_seconds=seconds, **fields
        )
        return reply["result"]

    async def _ask(self, verb: str, **fields: Any) -> dict[str, Any]:
        budget_seconds = self._running.budget_seconds("first_call")
        return await self._running.control.request(
            "probe", verb=verb, budget_seconds=budget_seconds, **fields
        )


@dataclass(frozen=True, slots=True)
class Listing:
    """The metadata of a nodeset and the episodes of one split, as one process gave them."""

    metadata: Mapping[str, Any] | None
    split: str = ""
    episodes: Sequence[Mapping[str, Any]] = ()


@dataclass(slots=True)
class Laboratory:
    """The nodeset that is checked, and what starts copies of it."""

    entry: NodeSetEntry
    config: Mapping[str, Any]
    launcher: Launcher
    split: str | None = None
    listings: dict[int, Listing] = field(default_factory=dict)
    """Per hash seed what a process with it listed."""
    copies: int = field(default=0)
    """How many were started."""
    shutdown_faults: list[ShutdownFault] = field(default_factory=list)
    _places: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(max(MIN_PLACES, os.cpu_count() or 1))
    )
    """How many copies may live at a time: some take a lot of memory."""

    @property
    def name(self) -> str:
        """Return the nodeset's name."""
        return self.entry.name

    @asynccontextmanager
    async def open(self, conditions: Conditions = BASE) -> AsyncIterator[Subject]:
        """Give a fresh copy; it ends with the context.

        Raises FaultyCodeError for what the author's code raised as it started, or where a copy
        died, and FleetSetupError for what is wrong with the set-up.
        """
        async with self._places:
            self.copies += 1
            async with self._translating(), self._start(conditions) as subject:
                yield subject

    @asynccontextmanager
    async def _start(self, conditions: Conditions) -> AsyncIterator[Subject]:
        async with await Fleet.start([self._member(conditions)], 1, self.launcher) as fleet:
            if conditions.clock_shift_seconds:
                await fleet.copies[self.name].control.request(
                    "probe",
                    verb="shift_clock",
                    seconds=float(conditions.clock_shift_seconds),
                    budget_seconds=CLOCK_SECONDS,
                )
            await fleet.initialize_all()
            environment = self.name if fleet.manifests[self.name]["metadata"] else None
            async with EnvWorkerPool(fleet, environment) as pool:
                subject = Subject(fleet, pool.workers[0], self.name)
                if conditions.hash_seed not in self.listings:
                    self.listings[conditions.hash_seed] = await self._list(subject)
                yield subject
        self.shutdown_faults += fleet.shutdown_faults

    async def _list(self, subject: Subject) -> Listing:
        metadata = subject.manifest["metadata"]
        if metadata is None:
            return Listing(None)
        split = self.split or metadata["default_split"]
        return Listing(metadata, split, await subject.list_episodes(split))

    @asynccontextmanager
    async def _translating(self) -> AsyncIterator[None]:
        """Turn what the author's code did into a fault of it."""
        try:
            yield
        except CopyStartError as error:
            if error.death is not None and error.death.status in _AUTHOR_FAULTS:
                raise FaultyCodeError(str(error)) from error
            raise
        except InfrastructureError as error:
            raise FaultyCodeError(f"a copy of {self.name!r} was lost: {error}") from error
        except (UnavailableError, FaultyCodeError):
            raise
        except NodeSetError as error:
            traceback_text = getattr(error, "traceback_text", "")
            raise FaultyCodeError(str(error), traceback_text) from error

    def _member(self, conditions: Conditions) -> Member:
        declaration = self.entry.declaration
        seed = {HASH_SEED_VARIABLE: str(conditions.hash_seed)}
        deployment = replace(declaration.deployment, env={**seed, **declaration.deployment.env})
        placement = place(self.name, declaration.parallelism, 1)
        changed = replace(declaration, deployment=deployment)
        return Member(changed, self.entry.path, self.config, placement)
