"""The state of a copy: one episode's volume, what was said of places, and where the agent was sent.

Knows nothing of ports or of other episodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .floor_map import Cell, FloorMap, grow, project, trace_path
from .frontier import Frontier, Scene, find_frontiers, survey
from .fusion import View
from .pose import heading_of, upright_pose
from .semantic import SemanticMap
from .setting import Setting
from .volume import Grid, Volume, make_grid

SPENT_RADIUS_M = 0.5
LOOK_BEYOND_M = 1.0


@dataclass
class Memory:
    """What one episode has brought so far; `spent` holds frontiers that the agent was sent to."""

    volume: Volume
    semantics: SemanticMap
    stood: Any
    spent: list[Cell] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """Where to go next and why; without a `frontier` none is left, and the agent looks around."""

    pose: Any
    frontier: Frontier | None
    distance_m: float


class Exploration:
    """Empty until the episode's first view; `clear` empties it again."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._memory: Memory | None = None

    def clear(self) -> None:
        """Forget everything."""
        self._memory = None

    @property
    def memory(self) -> Memory:
        if self._memory is None:
            raise RuntimeError(
                "no view was integrated in this episode; call tsdf_planner__integrate first and "
                "order this call by `after`"
            )
        return self._memory

    @property
    def grid(self) -> Grid:
        return self.memory.volume.grid

    def integrate(self, view: View, bounds: Any, floor_height_m: float) -> int:
        """Fuse a view; the episode's first one lays the grid. Returns how many voxels it told."""
        grid = make_grid(bounds, floor_height_m, self._setting)
        if self._memory is None:
            self._memory = self._begin(grid)
        elif grid.shape != self.grid.shape or not np.array_equal(grid.lower, self.grid.lower):
            raise ValueError(
                f"bounds {np.asarray(bounds).tolist()!r} with floor_height {floor_height_m!r} are "
                f"not those of this episode's first view; a volume keeps its place"
            )
        self._mark_stood(view.camera.position)
        return self._memory.volume.integrate(view)

    def _begin(self, grid: Grid) -> Memory:
        semantics = SemanticMap(grid, self._setting.semantic_sigma_m)
        stood = np.zeros((grid.shape[0], grid.shape[2]), np.bool_)
        return Memory(Volume(grid, self._setting), semantics, stood)

    def _mark_stood(self, position: Any) -> None:
        """Take the floor around the camera for free: it can't see its own feet."""
        stood, setting = self.memory.stood, self._setting
        radius_m = setting.agent_radius_m if stood.any() else setting.start_clearance_m
        here = np.zeros_like(stood)
        here[self._cell(position)] = True
        stood |= grow(here, radius_m / setting.voxel_m)

    def _cell(self, point: Any) -> Cell:
        x, z = self.grid.cells(np.asarray(point)[None, :3])[0]
        return int(x), int(z)

    def floor_map(self) -> FloorMap:
        """Return what is known of the floor."""
        return project(self.memory.volume, self.memory.stood, self._setting)

    def survey(self, pose: Any) -> Scene:
        """Return the map as one sees it who stands at `pose`."""
        value = self.memory.semantics.value
        return survey(self.floor_map(), value, agent=self._cell(pose), setting=self._setting)

    def frontiers(self, scene: Scene) -> list[Frontier]:
        """Return the frontiers that the agent was not sent to yet, in the order of their cells.

        One that stays after a visit can't be resolved by looking: a gap behind furniture.
        """
        found = find_frontiers(scene, self._setting)
        return [frontier for frontier in found if not self._is_spent(frontier)]

    def _is_spent(self, frontier: Frontier) -> bool:
        spent = np.array(self.memory.spent, np.float64).reshape(-1, 2)
        gaps_m = np.linalg.norm(spent - frontier.center, axis=1) * self._setting.voxel_m
        return bool((gaps_m <= SPENT_RADIUS_M).any())

    def plan(self, pose: Any, rng: np.random.Generator) -> Plan:
        """Choose a frontier and the pose on the way to it that the agent shall take next."""
        scene = self.survey(pose)
        frontiers = self.frontiers(scene)
        if not frontiers:
            ahead = heading_of(pose)
            place = [pose[0], self.grid.floor_height_m, pose[2]]
            return Plan(upright_pose(place, [-ahead[1], ahead[0]]), None, 0.0)
        chosen = self._choose(frontiers, rng)
        target = self._advance(scene, chosen)
        if target == chosen.stand:
            self.memory.spent.append(chosen.center)
        return Plan(self._look_from(target, chosen), chosen, chosen.distance_m)

    def _choose(self, frontiers: list[Frontier], rng: np.random.Generator) -> Frontier:
        weights = np.array([frontier.weight for frontier in frontiers])
        if self._setting.choice == "best":
            return frontiers[int(np.argmax(weights))]
        return frontiers[int(rng.choice(len(weights), p=weights / weights.sum()))]

    def _advance(self, scene: Scene, frontier: Frontier) -> Cell:
        """Return the last cell on the way that lies within one step of the agent."""
        path = np.array(trace_path(scene.hops, frontier.stand))
        gaps_m = np.linalg.norm(path - path[0], axis=1) * self._setting.voxel_m
        within = np.flatnonzero(gaps_m <= self._setting.max_step_m + 1e-9)
        x, z = path[within[-1]]
        return int(x), int(z)

    def _look_from(self, cell: Cell, frontier: Frontier) -> Any:
        beyond = np.array(frontier.center) + frontier.outward * LOOK_BEYOND_M / self.grid.voxel_m
        direction = beyond - cell
        if np.linalg.norm(direction) < 1.0:
            direction = frontier.outward
        return upright_pose(self.grid.points([cell])[0], direction)
