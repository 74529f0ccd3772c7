"""Give each worker its handle: which copies it calls, and how an attempt begins and ends on them.

Knows nothing of graphs, of what is done with results, or of where copies run.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from nodeset.context import EpisodeContext
from nodeset.digest import digest_firing
from wayfare.fleet.admission import Admission, admit
from wayfare.fleet.digests import Digest, Firing
from wayfare.fleet.errors import BudgetExceededError, CopyFailedError, Verdict
from wayfare.fleet.fleet import Fleet
from wayfare.fleet.launcher import Copy, Link
from wayfare.fleet.member import RunningCopy
from wayfare.fleet.place import resolve
from wayfare.fleet.resend import Recovery, SharedLink
from wayfare.fleet.together import together
from wayfare.graph.calls import InfrastructureError, ToolCall


@dataclass(frozen=True, slots=True)
class LogLine:
    """What a tool logged in one call."""

    path: str
    turns: tuple[int, ...]
    key: str
    value: Any


class WorkerHandle:
    """One worker's way into the fleet, an `Invoker`; one episode at a time.

    `server_url_overrides` and `controller_overrides` name the copies that are this worker's own;
    what they don't name falls through to the registry's one copy.
    """

    def __init__(
        self,
        index: int,
        fleet: Fleet,
        environment: str | None,
        *,
        recoveries: Mapping[str, Recovery],
        admission: Admission | None = None,
    ) -> None:
        self.index = index
        self.logs: list[LogLine] = []
        """What tools logged since the episode was opened."""
        self._fleet = fleet
        self._environment = environment
        self._recoveries = recoveries
        """By tag, who brings the calls of copies to their answers that die for nobody's episode."""
        self._admission = admission
        """Says when this worker may call its own copies; None: always."""
        self._links: dict[str, tuple[Copy, Link]] = {}
        self._is_open = False
        placements = fleet.placements.values()
        self._call_tags: dict[str, str] = {}
        self._controller_tags: dict[str, str] = {}
        for placement in placements:
            self._call_tags.update(placement.server_url_overrides[index])
            self._controller_tags.update(placement.controller_overrides[index])
        self._batched_tools = {
            (nodeset, tool["name"])
            for nodeset, manifest in fleet.manifests.items()
            for tool in manifest["tools"]
            if tool["batched"]
        }
        self._registry_tags = {p.nodeset: p.registry_tag for p in placements if p.registry_tag}
        self._tags = [resolve(n, self._call_tags, self._registry_tags) for n in fleet.members]
        """The copies that this worker calls."""

    @property
    def server_url_overrides(self) -> dict[str, str]:
        """Return where this worker's own copies listen, by nodeset."""
        return {name: self._fleet.copies[tag].copy.url for name, tag in self._call_tags.items()}

    @property
    def episode_seconds(self) -> float:
        """Return how long an attempt may take, as the nodeset that brings the episodes says."""
        members = [m for name, m in self._fleet.members.items() if name == self._environment]
        budgets = [m.declaration.deployment.budget_seconds("episode") for m in members]
        return min(budgets, default=math.inf)

    @property
    def controller_overrides(self) -> dict[str, str]:
        """Return where the controllers of this worker's own copies listen, by nodeset."""
        tags = self._controller_tags
        return {name: self._fleet.copies[tag].copy.url for name, tag in tags.items()}

    async def connect(self) -> None:
        """Open a link to every copy that this worker calls, where there is none that lives."""
        await together(self._connect(tag) for tag in self._tags)

    async def wait_until_ready(self) -> None:
        """Return when all copies that this worker calls are ready; see `Readiness`."""
        await self._fleet.readiness.wait_for(self.index)

    async def close(self) -> None:
        """Give all links up."""
        await together(link.close() for _, link in self._links.values())
        self._links.clear()

    async def open_episode(self, episode: EpisodeContext) -> None:
        """Begin an attempt: open the episode on every link, then the placements' pre-flight.

        `begin_episode` goes to every replicated copy of this worker; after that the controller of
        the nodeset that brings the episodes, if it is replicated and has one, gets `split`,
        `episode_index` and `play`. Raises the author's errors and InfrastructureError.
        """
        if self._is_open:
            await self._abandon_episode()
        self.logs = []
        self._is_open = True
        for tag in self._tags:
            self._fleet.copies[tag].episodes += 1
        fields = {**vars(episode), "info": dict(episode.info)}
        await together(link.open_episode(fields) for _, link in self._links.values())
        preflight = [p.nodeset for p in self._fleet.placements.values() if p.preflight]
        await together(self._begin_episode(name) for name in preflight)
        if self._environment in preflight:
            await self._play(self._environment, episode)

    def invoke(self, call: ToolCall) -> asyncio.Future[dict[str, Any]]:
        """Send one tool call and return what its outputs will be; see `Invoker.invoke`."""
        tag = resolve(call.nodeset, self._call_tags, self._registry_tags)
        running, link = self._fleet.copies[tag], self._links[tag][1]
        running.calls += 1
        return link.call(
            path=call.path,
            turns=call.turns,
            budget_seconds=math.inf,  # the fleet's watch sees when the author's code began
            take=partial(self._take_reply, call),
            is_grouped=(call.nodeset, call.tool) in self._batched_tools,
            tool=call.tool,
            config=dict(call.config),
            inputs=call.inputs,
            step=call.step,
            seed=call.seed,
        )

    async def close_episode(self) -> list[Firing]:
        """Close the episode on every link; return path, turns and digest of every call."""
        closing = (link.close_episode() for _, link in self._links.values())
        firings = await together(closing)
        self._is_open = False
        for tag in self._tags:
            self._fleet.copies[tag].fate.note_success()
        return [firing for part in firings for firing in part]

    async def replace_dead_copies(self) -> None:
        """Put fresh copies in the place of those of this worker that are gone or have served long.

        Raises InfrastructureError when that may go well the next time, else FleetSetupError.
        """
        await together(self._renew(tag) for tag in self._tags)
        await self.connect()

    async def _renew(self, tag: str) -> None:
        if tag in self._recoveries:
            await self._recoveries[tag].renew_if_due()
        elif not self._is_linked(tag):
            await self._fleet.replace(tag)
        elif await self._fleet.copies[tag].is_due():
            await self._fleet.recycle(tag)

    def _is_linked(self, tag: str) -> bool:
        """Return whether the copy that stands there now lives and can be called."""
        running = self._fleet.copies[tag]
        if tag not in self._links:
            return False
        copy, link = self._links[tag]
        if isinstance(link, SharedLink):
            return True  # to whatever copy stands there
        return copy is running.copy and not link.is_lost and not running.is_gone

    async def _connect(self, tag: str) -> None:
        running = self._fleet.copies[tag]
        if self._is_linked(tag):
            return
        if tag in self._links:
            await self._links[tag][1].close()
        if tag in self._recoveries:
            self._links[tag] = (running.copy, await self._recoveries[tag].connect(self.index))
            return
        exchange = await running.copy.connect(self.index)
        running.links.add(exchange)
        link: Link = exchange
        if self._admission is not None:
            link = self._admission.link(exchange, self.index)
        self._links[tag] = (running.copy, link)

    def _take_reply(self, call: ToolCall, reply: dict[str, Any]) -> dict[str, Any]:
        for key, value in reply["logs"]:
            self.logs.append(LogLine(call.path, call.turns, key, value))
        outputs: dict[str, Any] = reply["outputs"]
        return outputs

    async def _abandon_episode(self) -> None:
        """End what a failed attempt left open on the links that still live."""
        live = [link for _, link in self._links.values() if not link.is_lost]
        outcomes = await asyncio.gather(
            *(link.close_episode() for link in live), return_exceptions=True
        )
        unexpected = [o for o in outcomes if isinstance(o, BaseException)]
        for outcome in unexpected:
            if not isinstance(outcome, InfrastructureError):  # shows again when it is opened
                raise outcome

    async def _begin_episode(self, nodeset: str) -> None:
        running, link = self._own_copy(nodeset)
        running.preflights += 1
        await self._ask(running, link, "begin_episode")

    async def _play(self, nodeset: str, episode: EpisodeContext) -> None:
        if self._fleet.manifests[nodeset]["controller"] is None:
            return
        running, link = self._own_copy(nodeset)
        for verb, name, value in (
            ("field", "split", episode.split),
            ("field", "episode_index", episode.index),
            ("action", "play", None),
        ):
            given: dict[str, Any] = {"params": {}} if verb == "action" else {"value": value}
            await self._ask(running, link, "controller", verb=verb, name=name, **given)

    def _own_copy(self, nodeset: str) -> tuple[RunningCopy, Link]:
        tag = resolve(nodeset, self._controller_tags, self._registry_tags)
        return self._fleet.copies[tag], self._links[tag][1]

    async def _ask(self, running: RunningCopy, link: Link, op: str, **fields: Any) -> None:
        budget_seconds = running.budget_seconds("first_call")  # a scene may have to be loaded
        try:
            await link.request(op, budget_seconds=budget_seconds, **fields)
        except BudgetExceededError as error:
            running.doom(Verdict("budget", str(error)))
            raise


class EnvWorkerPool:
    """The workers of a run as an async context manager: leaving it closes their links.

    `environment` is the nodeset that brings the episodes; the copies stay the fleet's.
    """

    def __init__(self, fleet: Fleet, environment: str | None = None, *, retries: int = 2) -> None:
        self._fleet = fleet
        self._recoveries = {
            running.tag: Recovery(
                running,
                fleet,
                digest=_digest_like(fleet.manifests[running.member.instance]),
                retries=retries,
            )
            for running in fleet.copies.values()
            if running.member.placement.on_death == "resend"
        }
        admission = admit(fleet.copies.values(), fleet.worker_count)
        make = partial(WorkerHandle, recoveries=self._recoveries, admission=admission)
        self.workers = [make(index, fleet, environment) for index in range(fleet.worker_count)]

    async def __aenter__(self) -> EnvWorkerPool:
        try:
            await together(self._connect(worker) for worker in self.workers)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def _connect(self, worker: WorkerHandle) -> None:
        with suppress(CopyFailedError):  # who is gone is replaced before the first attempt
            await worker.connect()

    async def __aexit__(self, *exc_info: object) -> None:
        await together(recovery.close() for recovery in self._recoveries.values())
        await together(worker.close() for worker in self.workers)


def _digest_like(manifest: Mapping[str, Any]) -> Digest:
    """Return how the nodeset's copies digest a firing, for what they no longer can."""
    volatile = {
        tool["name"]: {port["name"] for port in tool["outputs"] if port["volatile"]}
        for tool in manifest["tools"]
    }

    def digest(tool: str, outputs: Mapping[str, Any], at: tuple[str, tuple[int, ...]]) -> bytes:
        kept = {name: value for name, value in outputs.items() if name not in volatile[tool]}
        return digest_firing(*at, kept)

    return digest
