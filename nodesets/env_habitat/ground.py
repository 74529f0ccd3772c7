"""Measure along the ground of a scene, and find the way that leads to a place.

Knows nothing of cameras or of scores.
"""

from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np

from .body import Body
from .calibre import FORWARD, LEFT, RIGHT, STOP
from .pose import Floats
from .task import Point

NAVIGABLE_WITHIN_M = 0.5
"""How far above or below the navigation mesh a place may be named, as Habitat-Sim has it."""
SAME_PLACE_M = 1e-3


class Ground:
    """The navigation mesh of the scene that is loaded."""

    def __init__(self, habitat: Any, finder: Any) -> None:
        self._habitat = habitat
        self._finder = finder

    def bounds(self) -> tuple[Point, Point]:
        """Return the lowest and the highest corner of the mesh's bounding box."""
        low, high = self._finder.get_bounds()
        return _as_point(low), _as_point(high)

    def is_navigable(self, place: Floats) -> bool:
        """Say whether the body can stand at a place."""
        point = np.asarray(place, dtype=np.float32)
        return bool(self._finder.is_navigable(point, NAVIGABLE_WITHIN_M))

    def places(self, spacing_m: float) -> list[Point]:
        """Return where a body can stand in a grid of that spacing, in the order of x, z and y.

        The grid begins half a spacing within the mesh's bounding box; floors above each other have
        places of their own.
        """
        (from_x, from_y, from_z), (to_x, to_y, to_z) = self.bounds()
        heights = np.arange(from_y, to_y + NAVIGABLE_WITHIN_M, NAVIGABLE_WITHIN_M)
        return [
            place
            for x in np.arange(from_x + spacing_m / 2, to_x, spacing_m)
            for z in np.arange(from_z + spacing_m / 2, to_z, spacing_m)
            for place in self._floors(x, z, heights)
        ]

    def geodesic_m(self, here: Floats, goals: Sequence[Floats]) -> float:
        """Return the length of the way along the ground to the nearest goal; infinite: no way.

        A place beside the mesh, as one that a body slid to, can be infinitely far from everywhere;
        then the way from the nearest place on the mesh counts.
        """
        length_m = float(self._way(here, goals).geodesic_distance)
        if math.isfinite(length_m):
            return length_m
        start = self._snapped(here)
        ends = [end for end in map(self._snapped, goals) if np.all(np.isfinite(end))]
        if not ends or not np.all(np.isfinite(start)):
            return math.inf
        length_m = float(self._way(start, ends).geodesic_distance)
        return length_m if math.isfinite(length_m) else math.inf

    def nearest_goal(self, here: Floats, goals: Sequence[Point]) -> Point:
        """Return where the way to the nearest goal ends; without a way the first goal."""
        points: Any = self._way(here, goals).points if len(goals) > 1 else ()
        return _as_point(points[-1] if len(points) else goals[0])

    def make_guide(self, body: Body, goal: Floats, *, goal_radius_m: float) -> Guide:
        """Return what leads a body to a goal."""
        keys = {"stop_key": STOP, "forward_key": FORWARD, "left_key": LEFT, "right_key": RIGHT}
        follower = self._habitat.GreedyGeodesicFollower(
            self._finder, body.agent, goal_radius_m, **keys
        )
        return Guide(follower, goal, self._habitat.errors.GreedyFollowerError)

    def _floors(self, x: float, z: float, heights: np.ndarray) -> list[Point]:
        """Return the places of the mesh above and below a point of the plan, the lowest first."""
        floors: list[Point] = []
        for height in heights:
            place = self._snapped((x, height, z))
            is_there = np.hypot(place[0] - x, place[2] - z) <= SAME_PLACE_M
            if not is_there or not self.is_navigable(place):
                continue
            if not floors or place[1] - floors[-1][1] > SAME_PLACE_M:
                floors.append(_as_point(place))
        return floors

    def _way(self, here: Floats, goals: Sequence[Floats]) -> Any:
        way = self._habitat.MultiGoalShortestPath()
        way.requested_start = np.asarray(here, dtype=np.float32)
        way.requested_ends = [np.asarray(goal, dtype=np.float32) for goal in goals]
        self._finder.find_path(way)
        return way

    def _snapped(self, place: Floats) -> np.ndarray:
        return np.asarray(self._finder.snap_point(np.asarray(place, dtype=np.float32)))


class Guide:
    """Habitat-Sim's greedy follower of the shortest way; it remembers the last actions."""

    def __init__(self, follower: Any, goal: Floats, no_way: type[Exception]) -> None:
        self._follower = follower
        self._goal = np.asarray(goal, dtype=np.float32)
        self._no_way = no_way

    def next_action(self) -> int:
        """Return the next action: STOP at the goal, or where no way leads there."""
        try:
            return int(self._follower.next_action_along(self._goal))
        except self._no_way:
            return STOP


def _as_point(values: Floats) -> Point:
    x, y, z = (float(value) for value in values)
    return x, y, z
