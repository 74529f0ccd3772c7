"""Find where the known floor ends, and say how much each such place is worth a visit.

After Explore-EQA (Ren et al., RSS 2024): a frontier's weight is a product of exponentials of how
unknown and how open it is beyond it, how valuable a model finds the place and what lies that way,
and how near it is; the temperatures are the published ones.

Knows nothing of depth images or of where the agent goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator

import numpy as np

from .floor_map import Cell, FloorMap, Mask, count_hops, grow, touches
from .setting import Setting

UNKNOWN_TEMPERATURE = 0.2
OPEN_TEMPERATURE = 2.0
VALUE_TEMPERATURE = 0.5
VALUE_AHEAD_TEMPERATURE = 0.5
DISTANCE_TEMPERATURE_M = 10.0
UNKNOWN_REACH_M = 3.0
VALUE_REACH_M = 3.0
OPEN_REACH_M = 1.0


@dataclass(frozen=True)
class Frontier:
    """A stretch of known free floor beside unknown floor.

    `center` is one of its cells, `outward` the direction (x, z) of the unknown, `stand` the cell
    near it that the agent can go to, `distance_m` how far that is on foot.
    """

    center: Cell
    outward: Any
    stand: Cell
    distance_m: float
    weight: float


@dataclass(frozen=True)
class Scene:
    """What frontiers are found in: the map, values, how far on foot, and where the agent is."""

    floor: FloorMap
    value: Any
    hops: Any
    agent: Cell


def survey(floor: FloorMap, value: Any, *, agent: Cell, setting: Setting) -> Scene:
    """Find out where the agent can walk from its cell: its radius must fit on known free floor."""
    radius = setting.agent_radius_m / setting.voxel_m
    walkable = ~grow(~floor.free, radius)
    return Scene(floor, value, count_hops(walkable, agent), agent)


def find_frontiers(scene: Scene, setting: Setting) -> list[Frontier]:
    """Return the frontiers that the agent can walk up to, in the order of their cells."""
    radius = setting.agent_radius_m / setting.voxel_m
    near = grow(scene.hops >= 0, radius + 1.0)
    edge = scene.floor.free & touches(scene.floor.unknown) & near
    stretches = _split(edge, setting.frontier_spacing_m / setting.voxel_m)
    return [
        _describe(cells, scene, setting)
        for cells in stretches
        if len(cells) >= setting.min_frontier_cells
    ]


def _split(edge: Mask, spacing_cells: float) -> Iterator[Any]:
    """Yield connected stretches (N, 2), none longer than the spacing."""
    left = edge.copy()
    while left.any():
        first = np.unravel_index(int(np.argmax(left)), left.shape)
        connected = count_hops(left, (int(first[0]), int(first[1])), corners=True) >= 0
        left &= ~connected
        cells = np.argwhere(connected)
        while len(cells):
            offset = np.abs(cells - cells[0]).max(axis=1)
            is_near = offset <= spacing_cells
            yield cells[is_near]
            cells = cells[~is_near]


def _describe(cells: Any, scene: Scene, setting: Setting) -> Frontier:
    center = cells[np.argmin(((cells - cells.mean(axis=0)) ** 2).sum(axis=1))]
    outward = _outward(cells, scene)
    reached = np.argwhere(scene.hops >= 0)
    stand = reached[np.argmin(((reached - center) ** 2).sum(axis=1))]
    stand_cell = (int(stand[0]), int(stand[1]))
    distance_m = float(scene.hops[stand_cell]) * setting.voxel_m
    cell = (int(center[0]), int(center[1]))
    weight = _weigh(cell, outward, distance_m, scene=scene, voxel_m=setting.voxel_m)
    return Frontier(cell, outward, stand_cell, distance_m, weight)


def _outward(cells: Any, scene: Scene) -> Any:
    """Return the mean direction from a stretch to the unknown beside it; else away from the agent.

    A stretch can have the unknown on both of its sides.
    """
    unknown = np.pad(scene.floor.unknown, 1)
    total = np.zeros(2)
    for step in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        x, z = (cells + 1 + step).T
        total += np.array(step) * unknown[x, z].sum()
    if np.linalg.norm(total) < 1e-9:
        total = cells.mean(axis=0) - scene.agent
    length = float(np.linalg.norm(total))
    return total / length if length > 1e-9 else np.array([0.0, -1.0])


def _weigh(center: Cell, outward: Any, distance_m: float, *, scene: Scene, voxel_m: float) -> float:
    beyond = list(_look_along(center, outward, scene.floor, UNKNOWN_REACH_M / voxel_m))
    count = max(len(beyond), 1)
    unknown = sum(bool(scene.floor.unknown[cell]) for cell in beyond) / count
    reach = OPEN_REACH_M / voxel_m
    is_open = min(len(beyond), reach) / reach
    ahead = beyond[: int(VALUE_REACH_M / voxel_m)]
    value_ahead = sum(float(scene.value[cell]) for cell in ahead) / max(len(ahead), 1)
    exponent = (
        unknown / UNKNOWN_TEMPERATURE
        + is_open / OPEN_TEMPERATURE
        + float(scene.value[center]) / VALUE_TEMPERATURE
        + value_ahead / VALUE_AHEAD_TEMPERATURE
        - distance_m / DISTANCE_TEMPERATURE_M
    )
    return float(np.exp(exponent))


def _look_along(center: Cell, outward: Any, floor: FloorMap, reach: float) -> Iterator[Cell]:
    """Yield the cells from a frontier outwards, up to what stands in the way or the map's edge."""
    for step in range(1, int(reach) + 1):
        x, z = np.round(np.array(center) + step * np.asarray(outward)).astype(int)
        if not (0 <= x < floor.free.shape[0] and 0 <= z < floor.free.shape[1]):
            return
        if floor.occupied[x, z]:
            return
        yield int(x), int(z)
