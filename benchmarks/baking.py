"""How fast one sees on MiniWorld and on a store that was baked of it.

An agent looks from a pose and decides by the depth image on the next one: two calls per step, with
digests and records. Beside it, calls that look and nothing else. The simulator draws in one
process; the store is served by one process to all workers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from looking import looks_per_second
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

import wayfare
from wayfare.fleet import event_loop

STEPS, LOOKS = "agent", "looks alone"
LIVE, STORE = "MiniWorld, 1 process", "store, 8 workers"
WORKERS = 8
GRID = {"spacing_m": 1.0}
LOOKS_COUNT = {LIVE: 400, STORE: 8000}


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
        return [Size(80, 60, 8, 10)]
    return [Size(80, 60, 32, 100), Size(160, 120, 32, 100), Size(320, 240, 16, 100)]


def list_candidates(size: Size, store: Path, tiny: bool) -> dict[str, Measure]:
    poses = np.load(store / "poses.npy")[:100]
    live = {f"nodesets.env_miniworld.{key}": value for key, value in size.config.items()}
    shared = {"nodesets.env_pose_lookup.store": str(store)}
    nearest = {"store": str(store), "match": "nearest", "max_distance_m": 10.0}

    def walk(graph: str, workers: int, *, settings: Mapping[str, Any], count: int) -> Measure:
        async def measure() -> float:
            found = await run_graph(
                graph, workers, settings, episodes=str(count), step_budget=size.steps
            )
            return found.steps_per_second

        return measure

    def look(name: str, workers: int, *, config: Mapping[str, Any], tool: str) -> Measure:
        looks = LOOKS_COUNT[name] // (20 if tiny else 1)
        return lambda: looks_per_second(tool, workers, config, poses=poses, looks=looks)

    few = max(1, size.episodes // 8)
    return {
        f"{STEPS}, {LIVE}": walk("miniworld_grid", 1, settings=live, count=few),
        f"{STEPS}, {STORE}": walk(
            "pose_lookup_grid", WORKERS, settings=shared, count=size.episodes
        ),
        f"{LOOKS}, {LIVE}": look(LIVE, 1, config=size.config, tool="env_miniworld__observe_pose"),
        f"{LOOKS}, {STORE}": look(STORE, WORKERS, config=nearest, tool="env_pose_lookup__observe"),
    }


def describe(size: Size, found: Mapping[str, Figure], baked: wayfare.Bake) -> list[list[str]]:
    rows = f"{baked.header.rows:,} rows, {baked.header.bytes / 2**20:.0f} MiB"
    lines = []
    for what in (STEPS, LOOKS):
        live, store = found[f"{what}, {LIVE}"], found[f"{what}, {STORE}"]
        figures = (live.describe(), store.describe(), store.per(live).describe())
        lines.append([f"{size.width} x {size.height}, {what}", rows, *figures])
    return lines


async def main() -> None:
    options = read_options(__doc__)
    machine = describe_machine()
    figures: dict[str, Any] = {}
    rows = []
    for size in list_sizes(options.tiny):
        with tempfile.TemporaryDirectory(prefix="wayfare-baking-") as folder:
            store = Path(folder) / "store"
            baked = await wayfare.bake_async(
                "env_miniworld", out=store, config=size.config, node_config=GRID, workers=2
            )
            found = await alternate(list_candidates(size, store, options.tiny), options.repetitions)
        figures[f"{size.width} x {size.height}"] = {**found, "bake_seconds": baked.elapsed_seconds}
        rows.extend(describe(size, found, baked))
    head = ["picture", "store", f"{LIVE}: per second", f"{STORE}: per second", "ratio"]
    publish("baking", figures, [format_table(head, rows)], options=options, machine=machine)


if __name__ == "__main__":
    event_loop.run(main())
