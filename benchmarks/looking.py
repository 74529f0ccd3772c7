"""Have workers look from poses as fast as they can, one call after the other, without an agent.

Knows nothing of what is compared.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from nodeset.digest import hash64
from wayfare.evals.episodes import plan_episodes
from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.fleet.pool import EnvWorkerPool, WorkerHandle
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.calls import ToolCall
from wayfare.graph.document import FORMAT_VERSION, GraphDocument, NodeSpec


async def looks_per_second(
    node_type: str, workers: int, config: Mapping[str, Any], *, poses: Any, looks: int
) -> float:
    """Return how many calls of a tool per second `workers` get, each in an episode of its own."""
    nodeset, _, tool = node_type.partition("__")
    nodes = [NodeSpec(id="look", type=node_type)]
    document = GraphDocument(version=FORMAT_VERSION, nodes=nodes, environment=nodeset)
    registry = WorkspaceComponentRegistry([])
    async with (
        LocalLauncher(LocalSettings.from_environment(os.environ)) as launcher,
        await registry.ensure_nodesets_for_graph(
            document, workers, launcher, configs={nodeset: config}
        ) as fleet,
    ):
        split = fleet.manifests[nodeset]["metadata"]["default_split"]
        listed = await fleet.list_episodes(nodeset, split)
        plan = plan_episodes(nodeset, split, listed, selection=str(workers), repeats=1)
        await fleet.initialize_all()
        async with EnvWorkerPool(fleet, nodeset) as pool:
            for worker, planned in zip(pool.workers, plan.planned, strict=True):
                await worker.open_episode(plan.context(planned, 0))
            await asyncio.gather(*(_look(w, nodeset, tool, poses[:1]) for w in pool.workers))
            began = time.perf_counter()
            own = [np.resize(poses, (looks // workers, 7)) for _ in pool.workers]
            pairs = zip(pool.workers, own, strict=True)
            await asyncio.gather(*(_look(worker, nodeset, tool, part) for worker, part in pairs))
            return looks // workers * workers / (time.perf_counter() - began)


async def _look(worker: WorkerHandle, nodeset: str, tool: str, poses: Any) -> None:
    for turn, pose in enumerate(poses):
        await worker.invoke(
            ToolCall(
                path="look",
                nodeset=nodeset,
                tool=tool,
                config={},
                inputs={"pose": pose},
                step=turn,
                turns=(turn,),
                seed=hash64(turn),
            )
        )
