"""Take one agent through one question at a time: where it looks from, what budget is left.

Knows nothing of ports, graphs or files. Its camera is tilted as the published code tilts it: with
the whole body, about its feet, which moves the camera too.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from nodeset.metrics import euclidean_distance, trajectory_length

from ..env_habitat.body import View
from ..env_habitat.calibre import STOP, Calibre, Camera
from ..env_habitat.pose import (
    Floats,
    checked_pose,
    multiply,
    pitch_quaternion,
    yaw_of,
    yaw_quaternion,
)
from ..env_habitat.simulator import Simulator
from ..env_habitat.task import Point
from .question import Question

CAMERA = Camera(width=640, height=480, hfov_deg=120.0, height_m=1.5)
TILT = math.radians(-30.0)
CALIBRE = Calibre(
    "hmeqa", rgb=CAMERA, depth=CAMERA, success_m=0.0, turn_deg=30.0, depth_max_m=math.inf
)
STEPS_PER_METRE = 3.0
BLACK_SHARE = 0.5
"""From this share of black pixels on a frame shows that the agent is outside."""


class DegenerateSceneError(ValueError):
    """A scene is so small that its budget is no step at all."""


def count_steps(low: Point, high: Point, scene: str) -> int:
    """Return a scene's budget: the root of its bounding box's area, x times z, times 3.

    The box is that of the whole navigation mesh, over all floors. Raises DegenerateSceneError
    where that is no step, since an agent that looks at nothing can't be right or wrong.
    """
    area_m2 = abs((high[0] - low[0]) * (high[2] - low[2]))
    steps = int(math.sqrt(area_m2) * STEPS_PER_METRE)
    if steps < 1:
        raise DegenerateSceneError(
            f"scene {scene!r} has a bounding box of {area_m2:.3g} m2, and so a budget of 0 steps; "
            f"its navigation mesh is broken or empty"
        )
    return steps


def is_black(rgb: np.ndarray) -> bool:
    """Say whether at least half of a frame's pixels are black."""
    return bool(np.mean(np.all(rgb == 0, axis=-1)) >= BLACK_SHARE)


class Rollout:
    """The state of a copy: a simulator, the question, and where the agent is."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator
        self.steps = 0
        self.budget = 0
        self.is_stopped = False
        self._place: Any = None
        self._question: Question | None = None
        self._pose = np.zeros(7)
        self._positions: list[tuple[float, ...]] = []

    @property
    def question(self) -> Question:
        """Return the running episode's question; raises RuntimeError where none has begun."""
        if self._question is None:
            raise RuntimeError("no episode has begun; begin_episode or the controller begins one")
        return self._question

    @property
    def pose(self) -> np.ndarray:
        """Return the agent's pose (7,): on the floor and level."""
        return self._pose.copy()

    @property
    def is_done(self) -> bool:
        """Say whether the agent has stopped or spent its budget."""
        return self.is_stopped or self.steps >= self.budget

    def is_at_start_of(self, place: Any) -> bool:
        """Say whether the question at `place` has begun and no step been taken."""
        return bool(self._place == place and self.steps == 0 and not self.is_stopped)

    def begin(self, question: Question, scene: Path, place: Any) -> None:
        """Load the scene and put the agent to the floor's initial pose."""
        self._question, self._place = None, None
        self.simulator.load(scene)
        self.budget = count_steps(*self.simulator.ground.bounds(), question.scene)
        self.steps, self.is_stopped, self._positions = 0, False, []
        start = question.start
        self._stand(np.concatenate([start.position, yaw_quaternion(start.angle)]))
        self._question, self._place = question, place

    def go(self, pose: Floats) -> bool:
        """Spend a step on going to a pose, level again; return whether one can stand there."""
        self._refuse_done()
        values = checked_pose(pose)
        self.steps += 1
        self._stand(np.concatenate([values[:3], yaw_quaternion(yaw_of(values[3:]))]))
        return self.simulator.ground.is_navigable(self._pose[:3])

    def act(self, action: int) -> bool:
        """Spend a step on a discrete action; return whether the body bumped. Raises ValueError."""
        self._refuse_done()
        if isinstance(action, bool) or action not in CALIBRE.actions():
            raise ValueError(f"action {action!r} is unknown; 0 STOP, 1 forward, 2 left, 3 right")
        self.steps += 1
        if action == STOP:
            self.is_stopped = True
            return False
        self.simulator.body.place(self._pose)
        has_bumped = self.simulator.body.act(action)
        self._stand(self.simulator.body.pose())
        return has_bumped

    def look(self) -> View:
        """Render what the agent sees."""
        return self.simulator.body.look()

    def length_m(self) -> Any:
        """Return the length of the way so far, in straight lines."""
        return trajectory_length(self._positions, euclidean_distance)

    def _stand(self, level_pose: np.ndarray) -> None:
        self._pose = level_pose
        tilted = multiply(level_pose[3:], pitch_quaternion(TILT))
        self.simulator.body.place(np.concatenate([level_pose[:3], tilted]))
        self._positions.append(tuple(float(value) for value in level_pose[:3]))

    def _refuse_done(self) -> None:
        if self.is_done:
            raise RuntimeError(
                f"the agent has stopped or spent its budget of {self.budget} steps; wire 'done' to "
                f"the loop's 'stop'"
            )
