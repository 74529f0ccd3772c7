"""Turn a simulator into data: render what it shows from many poses into a store, and verify it.

Knows nothing of settings, of signals, or of where copies are started.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from wayfare.evals.bake_crew import Crew, start_crew
from wayfare.evals.bake_plan import BakePlan
from wayfare.evals.bake_request import (
    BakeRequest,
    Poses,
    check_node_config,
    choose_list_tool,
    choose_render_tool,
)
from wayfare.evals.bake_work import ListWork, RenderWork, VerifyWork, probe_outputs
from wayfare.evals.choice import choose_split
from wayfare.evals.episodes import plan_episodes
from wayfare.evals.errors import RunFailedError, SetupError
from wayfare.evals.header import describe_nodeset
from wayfare.evals.surroundings import Surroundings
from wayfare.fleet.launcher import Launcher
from wayfare.fleet.member import Member
from wayfare.fleet.place import place
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.store.errors import StorageWriteError
from wayfare.store.pose_header import StoreHeader, Verification, is_store, read_header
from wayfare.store.pose_store import PoseStore

Status = Literal["done", "different", "incomplete"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Bake:
    """What came of a request; `different`: rows of the store are not what a fresh copy renders."""

    request: BakeRequest
    header: StoreHeader
    status: Status
    rendered: int
    kept: int
    """Rows that an earlier call had finished."""
    elapsed_seconds: float
    is_verdict_earlier: bool = False
    """Whether what the verification found was found by an earlier call."""

    @property
    def folder(self) -> Path:
        """The store's folder."""
        return self.request.out

    @property
    def rows(self) -> int:
        """How many rows the store has room for, one per pose."""
        return self.header.rows

    @property
    def verified(self) -> int:
        """How many rows a fresh copy rendered again."""
        return 0 if self.header.verification is None else self.header.verification.rows

    @property
    def different(self) -> tuple[int, ...]:
        """Which of those came out otherwise."""
        return () if self.header.verification is None else self.header.verification.different

    def __repr__(self) -> str:
        rows = f"{self.rendered + self.kept} of {self.rows} rows, {self.verified} verified"
        return f"<Bake {self.folder}: {self.status}, {rows}>"


class Baker:
    """One request at work."""

    def __init__(
        self,
        request: BakeRequest,
        registry: WorkspaceComponentRegistry,
        surroundings: Surroundings,
    ) -> None:
        self._request = request
        self._around = surroundings
        self._drain = surroundings.drain
        self._progress = surroundings.progress
        self._entry = registry.find_nodeset(request.nodeset)
        declaration = self._entry.declaration
        if declaration.parallelism != "replicated":
            raise SetupError(
                f"nodeset {declaration.name!r} is {declaration.parallelism}; only a replicated one "
                f"is baked: a shared one serves all workers already."
            )

    async def run(self) -> Bake:
        """Return what the store came to. The same request goes on where it was ended.

        Raises SetupError, FleetSetupError, StoreError or the author's errors before the first row,
        RunInterruptedError when asked to end by then, RunFailedError when it can't go on.
        """
        began = time.monotonic()
        async with self._around.launching() as launcher:
            async with self._start(launcher, self._request.worker_count) as crew:
                plan = await self._drain.unless_asked(self._plan(crew))
                with await self._open(crew, plan) as store:
                    kept = store.finished
                    await self._render(crew, plan, store)
                    rendered = store.finished - kept
            with PoseStore.reopen(self._request.out) as store:
                before = store.header.verification
                status = await self._conclude(launcher, plan, store)
                header = store.header
        return Bake(
            request=self._request,
            header=header,
            status=status,
            rendered=rendered,
            kept=kept,
            elapsed_seconds=time.monotonic() - began,
            is_verdict_earlier=before is not None and header.verification is before,
        )

    def _start(self, launcher: Launcher, worker_count: int) -> Any:
        declaration = self._entry.declaration
        placement = place(declaration.name, declaration.parallelism, worker_count)
        self._member = Member(declaration, self._entry.path, self._request.config, placement)
        return start_crew(
            self._member,
            launcher,
            self._drain,
            retries=self._request.retries,
            notify=self._around.notify,
        )

    async def _plan(self, crew: Crew) -> BakePlan:
        request, name = self._request, self._entry.name
        manifest: Mapping[str, Any] = crew.fleet.manifests[name]
        if not manifest["metadata"]:
            raise SetupError(f"nodeset {name!r} brings no episodes, so it has no scenes to render.")
        render = choose_render_tool(request, manifest)
        listing = None if request.poses_file else choose_list_tool(request, manifest)
        check_node_config(request, manifest, [tool for tool in (render, listing) if tool])
        split = choose_split(request.split, name, crew.fleet.manifests)
        listed = await crew.fleet.list_episodes(name, split)
        return BakePlan(
            request,
            replace(describe_nodeset(self._member, manifest), file=self._entry.path.name),
            plan_episodes(name, split, listed, selection=request.selection, repeats=1),
            render=render,
            listing=listing,
            pose_frame=manifest["metadata"].get("pose_frame") or "",
        )

    async def _open(self, crew: Crew, plan: BakePlan) -> PoseStore:
        """Return the store of this request, begun now or before."""
        out = self._request.out
        if is_store(out):
            plan.refuse_another(read_header(out))
            store = PoseStore.reopen(out)
            try:
                await asyncio.to_thread(store.refuse_damage)
            except BaseException:
                store.close()
                raise
            return store
        await self._drain.unless_asked(crew.fleet.initialize_all())
        poses = await self._drain.unless_asked(self._gather_poses(crew, plan))
        probing = probe_outputs(
            crew, plan.job(0), self._entry.name, tool=plan.render, pose=poses[0][0]
        )
        outputs = await self._drain.unless_asked(probing)
        return PoseStore.create(out, plan.header(poses, outputs), np.concatenate(poses))

    async def _gather_poses(self, crew: Crew, plan: BakePlan) -> list[Poses]:
        if plan.listing is None:
            return plan.read_poses()
        work = ListWork(self._entry.name, plan.listing)
        await crew.do([plan.job(scene) for scene in range(len(plan.scenes))], work)
        return [work.found[scene] for scene in range(len(plan.scenes))]

    async def _render(self, crew: Crew, plan: BakePlan, store: PoseStore) -> None:
        jobs = plan.list_jobs(store)
        self._progress(store.finished, store.header.rows)
        if jobs:
            await self._drain.unless_asked(crew.fleet.initialize_all())
            work = RenderWork(
                self._entry.name, plan.render, store, drain=self._drain, progress=self._progress
            )
            await crew.do(jobs, work)

    async def _conclude(self, launcher: Launcher, plan: BakePlan, store: PoseStore) -> Status:
        """Verify a store whose rows are all there, and write down what came of it."""
        header, known = store.header, store.header.verification
        if store.finished < header.rows:
            return "incomplete"
        count = min(self._request.verified, header.rows)
        if count and (known is None or known.rows != count or known.different):
            known = await self._verify(launcher, plan, store, count=count)
            if known is None:
                return "incomplete"
        try:
            store.finish(known)
        except StorageWriteError as error:
            raise RunFailedError(f"all rows are there, but {error}") from error
        return "different" if known is not None and known.different else "done"

    async def _verify(
        self, launcher: Launcher, plan: BakePlan, store: PoseStore, *, count: int
    ) -> Verification | None:
        """Render a sample again, with a copy that rendered nothing yet; None: asked to end."""
        seed = int(store.header.poses_hash[:8], 16)
        work = VerifyWork(self._entry.name, plan.render, store, drain=self._drain)
        async with self._start(launcher, 1) as crew:
            await self._drain.unless_asked(crew.fleet.initialize_all())
            await crew.do(plan.sample_jobs(store.header, count, seed), work)
        if len(work.seen) < count:
            return None
        return Verification(count, seed, tuple(sorted(work.different)))
