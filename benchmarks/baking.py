"""Steps per second of one agent on MiniWorld and on a store that was baked of it.

The agent looks from a pose, by its depth image decides on the next one, and so on: two calls per
step. The simulator draws in one process; the store is served by one process to all workers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import (
    Figure,
    Measure,
    alternate,
    describe_machine,
    format_table,
    publish,
    read_options,
)
from timeline import run_graph

from wayfare.evals.bake import Bake, Baker
from wayfare.evals.bake_request import BakeRequest
from wayfare.evals.surroundings import Surroundings
from wayfare.fleet import event_loop
from wayfare.fleet.registry import WorkspaceComponentRegistry

LIVE = "MiniWorld, 1 process"
WORKERS = (1, 8)
GRID = {"spacing_m": 1.0}


@dataclass(frozen=True)
class Size:
    """How large a picture is, and how long the agent walks."""

    width: int
    height: int
    episodes: int
    steps: int

    @property
    def config(self) -> dict[str, Any]:
        """The simulator's configuration."""
        return {
            "id": "MiniWorld-OneRoomS6-v0",
            "episodes": self.episodes,
            "obs_width": self.width,
            "obs_height": self.height,
        }


def list_sizes(tiny: bool) -> list[Size]:
    if tiny:
        return [Size(80, 60, 2, 10)]
    return [Size(80, 60, 32, 100), Size(160, 120, 32, 100), Size(320, 240, 16, 100)]


async def bake(size: Size, out: Path) -> Bake:
    request = BakeRequest(
        nodeset="env_miniworld", out=out, config=size.config, node_config=GRID, worker_count=2
    )
    registry = WorkspaceComponentRegistry([])
    return await Baker(request, registry, Surroundings(), progress=lambda *_: None).run()


def list_candidates(size: Size, store: Path) -> dict[str, Measure]:
    async def live() -> float:
        settings = {f"nodesets.env_miniworld.{key}": value for key, value in size.config.items()}
        count = str(max(1, size.episodes // 8))
        return await _measure("miniworld_grid", 1, settings, size, count)

    def lookup(workers: int) -> Measure:
        settings = {"nodesets.env_pose_lookup.store": str(store)}

        async def measure() -> float:
            return await _measure("pose_lookup_grid", workers, settings, size, "")

        return measure

    return {LIVE: live} | {f"store, {workers} workers": lookup(workers) for workers in WORKERS}


async def _measure(
    graph: str, workers: int, settings: Mapping[str, Any], size: Size, episodes: str
) -> float:
    found = await run_graph(graph, workers, settings, episodes=episodes, step_budget=size.steps)
    return found.steps_per_second


def describe(size: Size, found: Mapping[str, Figure], baked: Bake) -> list[str]:
    rows_per_second = baked.header.rows / baked.elapsed_seconds
    eight = found["store, 8 workers"]
    return [
        f"{size.width} x {size.height}",
        f"{baked.header.rows:,} rows, {baked.header.bytes / 2**20:.0f} MiB",
        f"{rows_per_second:,.0f}",
        *(figure.describe() for figure in found.values()),
        eight.per(found[LIVE]).describe(),
    ]


async def main() -> None:
    options = read_options(__doc__)
    machine = describe_machine()
    figures: dict[str, Any] = {}
    rows = []
    names: list[str] = []
    for size in list_sizes(options.tiny):
        with tempfile.TemporaryDirectory(prefix="wayfare-baking-") as folder:
            store = Path(folder) / "store"
            baked = await bake(size, store)
            found = await alternate(list_candidates(size, store), options.repetitions)
        figures[f"{size.width} x {size.height}"] = {**found, "bake_seconds": baked.elapsed_seconds}
        rows.append(describe(size, found, baked))
        names = list(found)
    head = ["picture", "store", "rows/s to bake", *(f"{name}: steps/s" for name in names), "8 : 1"]
    publish("baking", figures, [format_table(head, rows)], options=options, machine=machine)


if __name__ == "__main__":
    event_loop.run(main())
