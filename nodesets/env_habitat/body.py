"""Move one body through a scene and look from it.

Knows nothing of the navigation mesh, of goals or of scores.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .calibre import ACTION_NAMES, LOOK_DOWN, LOOK_UP, Calibre
from .pose import Floats, checked_pose, join_pose, rotate
from .settings import COLOUR, DEPTH


class View(NamedTuple):
    """What the cameras see from one pose: rgb (H, W, 3) uint8, depth (H, W) float32 in metres."""

    rgb: np.ndarray
    depth: np.ndarray


class Body:
    """The simulator's agent in the scene that is loaded."""

    def __init__(self, habitat: Any, sim: Any, calibre: Calibre) -> None:
        self.agent = sim.get_agent(0)
        self._habitat = habitat
        self._sim = sim
        self._calibre = calibre
        self._looks: list[int] = []

    def place(self, pose: Floats) -> None:
        """Put the body to a pose, wherever that is, with its cameras ahead."""
        values = checked_pose(pose)
        state = self._habitat.AgentState(position=values[:3], rotation=values[3:])
        self.agent.set_state(state, reset_sensors=True)
        self._looks = []

    def act(self, action: int) -> bool:
        """Perform a discrete action other than STOP; return whether the body bumped."""
        if action in (LOOK_UP, LOOK_DOWN):
            self._looks.append(action)
        return bool(self.agent.act(ACTION_NAMES[action]))

    def pose(self) -> np.ndarray:
        """Return the body's pose (7,): position and quaternion x y z w, in Habitat's frame."""
        state = self.agent.get_state()
        return join_pose(state.position, state.rotation)

    def camera_pose(self) -> np.ndarray:
        """Return the pose (7,) of the colour camera, which looks along its own -z."""
        state = self.agent.get_state().sensor_states[COLOUR]
        return join_pose(state.position, state.rotation)

    def level_camera_pose(self) -> np.ndarray:
        """Return the colour camera's pose as it would be without looking up or down."""
        here = self.pose()
        return np.concatenate([here[:3] + rotate(here[3:], self._up()), here[3:]])

    def look(self) -> View:
        """Render what the cameras see from where they are."""
        seen = self._sim.get_sensor_observations()
        bounds_m = (self._calibre.depth_min_m, self._calibre.depth_max_m)
        depth = np.clip(seen[DEPTH], *bounds_m).astype(np.float32)
        return View(np.ascontiguousarray(seen[COLOUR][:, :, :3]), np.ascontiguousarray(depth))

    def look_from(self, camera_pose: Floats) -> View:
        """Render what a camera sees from any pose; the body is back where it was afterwards."""
        values = checked_pose(camera_pose)
        feet = values[:3] - rotate(values[3:], self._up())
        return self.look_standing(np.concatenate([feet, values[3:]]))

    def look_standing(self, pose: Floats) -> View:
        """Render what the cameras see ahead if the body is at a pose; it is back afterwards."""
        here, looks = self.pose(), list(self._looks)
        self.place(pose)
        try:
            return self.look()
        finally:
            self._restore(here, looks)

    def _restore(self, pose: np.ndarray, looks: list[int]) -> None:
        """Take the same steps again: from the same bits they lead to the same bits."""
        self.place(pose)
        for action in looks:
            self.act(action)

    def _up(self) -> np.ndarray:
        return np.array([0.0, self._calibre.rgb.height_m, 0.0])
