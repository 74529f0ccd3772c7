"""Do in a scene what a store needs: list its poses, render its rows, render some of them again.

Knows nothing of which rows are due or of how copies live.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from nodeset.digest import hash64
from wayfare.evals.bake_crew import Crew, Job
from wayfare.evals.bake_request import POSES_PORT, ListTool, Poses, RenderTool, check_poses
from wayfare.evals.drain import Drain
from wayfare.evals.errors import RunFailedError, SetupError
from wayfare.fleet.pool import WorkerHandle
from wayfare.graph.calls import InfrastructureError, ToolCall
from wayfare.store.pose_header import StoredOutput
from wayfare.store.pose_store import Array, PoseStore, digest_row


class ListWork:
    """Lists each scene's poses into `found`, by the scene's number."""

    def __init__(self, nodeset: str, tool: ListTool) -> None:
        self._nodeset = nodeset
        self._tool = tool
        self.found: dict[int, Poses] = {}

    async def __call__(self, worker: WorkerHandle, job: Job) -> None:
        """List the poses of the job's scene. Raises SetupError for what are none."""
        tool = self._tool
        outputs = await worker.invoke(_call(self._nodeset, tool.name, tool.config, {}))
        where = f"{self._nodeset}__{tool.name} in scene {job.episode.scene_id!r}"
        self.found[job.scene] = check_poses(outputs[POSES_PORT], where)


class Renderer:
    """Renders single poses, as arrays."""

    def __init__(self, nodeset: str, tool: RenderTool) -> None:
        self._nodeset = nodeset
        self._tool = tool

    async def render(self, worker: WorkerHandle, pose: Array, row: int) -> dict[str, Array]:
        """Return each kept output of one pose as an array."""
        tool = self._tool
        inputs = {tool.pose_port: np.array(pose)}
        outputs = await worker.invoke(_call(self._nodeset, tool.name, tool.config, inputs, row))
        arrays = {}
        for port in tool.outputs:
            if port.name not in outputs:
                raise RunFailedError(
                    f"{self._nodeset}__{tool.name} left its optional output {port.name!r} out at "
                    f"pose {pose.tolist()}; every row needs it, or leave it out with --outputs."
                )
            arrays[port.name] = np.asarray(outputs[port.name])
        return arrays

    def describe(self, arrays: Mapping[str, Array]) -> list[StoredOutput]:
        """Return what rows like this one are."""
        return [
            StoredOutput(
                name=port.name,
                wire_type=port.wire_type,
                description=port.description,
                dtype=arrays[port.name].dtype.str,
                shape=arrays[port.name].shape,
            )
            for port in self._tool.outputs
        ]


async def probe_outputs(
    crew: Crew, job: Job, nodeset: str, *, tool: RenderTool, pose: Array
) -> list[StoredOutput]:
    """Render one pose to learn what rows are. Raises SetupError for arrays no file can hold."""
    renderer = Renderer(nodeset, tool)
    found: list[StoredOutput] = []

    async def work(worker: WorkerHandle, _: Job) -> None:
        found[:] = renderer.describe(await renderer.render(worker, pose, 0))

    await crew.do([job], work)
    for output in found:
        if output.row_bytes == 0:
            raise SetupError(
                f"output {output.name!r} of {tool.name!r} is empty: {output.shape}; leave it out "
                f"with --outputs."
            )
    return found


class RenderWork:
    """Renders rows into a store; they count once the job is over, or its copy is."""

    def __init__(
        self,
        nodeset: str,
        tool: RenderTool,
        store: PoseStore,
        *,
        drain: Drain,
        progress: Callable[[int, int], None],
    ) -> None:
        self._renderer = Renderer(nodeset, tool)
        self._store = store
        self._drain = drain
        self._progress = progress
        self._done: set[int] = set()

    async def __call__(self, worker: WorkerHandle, job: Job) -> None:
        """Render the job's rows, those of an earlier try left out, until asked to end."""
        fresh: list[int] = []
        try:
            for row in job.rows:
                if self._drain.is_asked:
                    break
                if row not in self._done:
                    await self._render(worker, row)
                    fresh.append(row)
        except InfrastructureError:
            await self._commit(fresh)
            raise
        await self._commit(fresh)

    async def _render(self, worker: WorkerHandle, row: int) -> None:
        store = self._store
        arrays = await self._renderer.render(worker, store.poses[row], row)
        _refuse_odd(self._renderer.describe(arrays), store, row)
        store.put(row, arrays)

    async def _commit(self, rows: list[int]) -> None:
        await asyncio.to_thread(self._store.commit, rows)
        self._done.update(rows)
        self._progress(self._store.finished, self._store.header.rows)


class VerifyWork:
    """Renders rows again and compares them with the store's, bit for bit."""

    def __init__(self, nodeset: str, tool: RenderTool, store: PoseStore, *, drain: Drain) -> None:
        self._renderer = Renderer(nodeset, tool)
        self._store = store
        self._drain = drain
        self.seen: set[int] = set()
        self.different: set[int] = set()

    async def __call__(self, worker: WorkerHandle, job: Job) -> None:
        """Compare the job's rows, in their order, until asked to end."""
        for row in job.rows:
            if self._drain.is_asked:
                return
            live = await self._renderer.render(worker, self._store.poses[row], row)
            _, digest = self._store.read(row)
            if digest_row(live) != digest:
                self.different.add(row)
            self.seen.add(row)


def _call(
    nodeset: str, tool: str, config: Mapping[str, Any], inputs: dict[str, Any], row: int = 0
) -> ToolCall:
    return ToolCall(
        path=tool,
        nodeset=nodeset,
        tool=tool,
        config=config,
        inputs=inputs,
        step=row,
        turns=(row,),
        seed=hash64(0, tool, (row,)),
    )


def _refuse_odd(found: list[StoredOutput], store: PoseStore, row: int) -> None:
    """Refuse a row that is not like the others. Raises RunFailedError."""
    for output, due in zip(found, store.header.outputs, strict=True):
        if (output.shape, output.dtype) != (due.shape, due.dtype):
            raise RunFailedError(
                f"output {output.name!r} of row {row} is {output.shape} {output.dtype}, that of "
                f"the first row {due.shape} {due.dtype}: rows of a store are alike. Leave it out "
                f"with --outputs, in another folder."
            )
