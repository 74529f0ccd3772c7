"""Take one body through one episode at a time: what it did, where it was, what that is worth.

Knows nothing of ports, graphs or files.
"""

from __future__ import annotations

import math
from typing import Any, Sequence

from nodeset.metrics import (
    drop_repeats,
    euclidean_distance,
    navigation_error,
    ndtw,
    oracle_success,
    success,
    success_weighted_path_length,
    trajectory_length,
    undefined,
)

from .calibre import ACTION_NAMES, STOP, Calibre
from .ground import Guide
from .pose import Floats
from .simulator import Simulator
from .task import Point, Task

NO_WAY = "no way leads from the start to the goal"
NO_TRUTH = "the split publishes no ground truth for this episode"


class Rollout:
    """The state of a copy: a simulator and the episode that it is in."""

    def __init__(self, calibre: Calibre, simulator: Simulator) -> None:
        self.calibre = calibre
        self.simulator = simulator
        self.actions: list[int] = []
        self.is_stopped = False
        self._place: Any = None
        self._task: Task | None = None
        self._positions: list[Point] = []
        self._geodesics: dict[Point, float] = {}
        self._guide: Guide | None = None

    @property
    def task(self) -> Task:
        """Return the running episode's task; raises RuntimeError where none has begun."""
        if self._task is None:
            raise RuntimeError("no episode has begun; begin_episode or the controller begins one")
        return self._task

    def is_at_start_of(self, place: Any) -> bool:
        """Say whether the episode at `place` (split, index) has begun and nothing been done."""
        return bool(self._place == place and len(self._positions) == 1 and not self.actions)

    def begin(self, task: Task, place: Any) -> None:
        """Put the body at the start; the scene is loaded already."""
        self._task, self._place = None, None
        self.simulator.body.place([*task.position, *task.rotation])
        self.actions, self.is_stopped = [], False
        self._positions, self._geodesics, self._guide = [self._here()], {}, None
        self._task, self._place = task, place

    def act(self, action: int) -> bool:
        """Perform a discrete action; return whether the body bumped. Raises ValueError."""
        self._refuse_stopped()
        if isinstance(action, bool) or action not in self.calibre.actions():
            names = [f"{number} {ACTION_NAMES[number]}" for number in self.calibre.actions()]
            raise ValueError(
                f"action {action!r} is unknown; calibre {self.calibre.name!r} has "
                f"{', '.join(names)}"
            )
        self.actions.append(action)
        if action == STOP:
            self.is_stopped = True
            return False
        has_bumped = self.simulator.body.act(action)
        self._positions.append(self._here())
        return has_bumped

    def teleport(self, pose: Floats) -> None:
        """Put the body to a pose where it can stand; raises ValueError where it can't."""
        self._refuse_stopped()
        if not self.simulator.ground.is_navigable(pose[:3]):
            raise ValueError(
                f"pose {list(pose)!r} is not navigable in scene {self.task.scene_id!r}; its "
                f"position must lie on the navigation mesh"
            )
        self.simulator.body.place(pose)
        self._positions.append(self._here())

    def guide(self, goal_radius_m: float) -> Guide:
        """Return what leads the body to the goal that is nearest to the start, all episode long."""
        if self._guide is None:
            ground, body = self.simulator.ground, self.simulator.body
            goal = ground.nearest_goal(self._positions[0], self.task.goals)
            self._guide = ground.make_guide(body, goal, goal_radius_m=goal_radius_m)
        return self._guide

    def to_goal_m(self) -> float:
        """Return how far the nearest goal is along the ground; infinite without a way."""
        return self._distance_m(self._positions[-1], self.task.goals)

    def evaluate(self) -> dict[str, Any]:
        """Return the metrics so far, as Habitat and VLN-CE define them.

        Distances to the goal go along the ground, the length walked is in straight lines. SR and
        SPL ask for STOP, OSR doesn't. Undefined where no way leads to the goal, but TL.
        """
        length_m = trajectory_length(self._positions, euclidean_distance)
        if math.isinf(self._distance_m(self._positions[0], self.task.goals)):
            unreachable = {name: undefined(NO_WAY) for name in self.calibre.metrics()}
            return {**unreachable, "TL": length_m}
        scores = {**self._goal_scores(), "TL": length_m}
        if self.calibre.has_reference_path:
            scores.update(self._fidelity(scores["SR"]))
        return {name: scores[name] for name in self.calibre.metrics()}

    def _goal_scores(self) -> dict[str, Any]:
        way = (self._positions, self.task.goals, self._distance_m)
        threshold_m = self.calibre.success_m
        spl = success_weighted_path_length(
            *way, threshold_m=threshold_m, step_distance=euclidean_distance
        )
        return {
            "NE": navigation_error(*way),
            "SR": self.is_stopped and success(*way, threshold_m=threshold_m),
            "OSR": oracle_success(*way, threshold_m=threshold_m),
            "SPL": spl if self.is_stopped or isinstance(spl, dict) else 0.0,
        }

    def _fidelity(self, succeeded: bool) -> dict[str, Any]:
        truth = self.task.ground_truth
        if truth is None:
            return {"nDTW": undefined(NO_TRUTH), "sDTW": undefined(NO_TRUTH)}
        places = drop_repeats(self._positions)
        closeness = ndtw(
            places, truth.locations, euclidean_distance, threshold_m=self.calibre.success_m
        )
        return {"nDTW": closeness, "sDTW": closeness if succeeded else 0.0}

    def _distance_m(self, here: Point, goals: Sequence[Point]) -> float:
        length_m = self._geodesics.get(here)
        if length_m is None:
            length_m = self._geodesics[here] = self.simulator.ground.geodesic_m(here, goals)
        return length_m

    def _here(self) -> Point:
        x, y, z = (float(value) for value in self.simulator.body.pose()[:3])
        return x, y, z

    def _refuse_stopped(self) -> None:
        if self.is_stopped:
            raise RuntimeError("the agent has stopped; wire 'done' to the loop's 'stop'")
