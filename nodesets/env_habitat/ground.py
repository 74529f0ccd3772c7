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
