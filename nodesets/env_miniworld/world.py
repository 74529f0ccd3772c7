"""Read and move the body and the camera of one MiniWorld environment.

Knows nothing of steps, episodes or scores.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .pose import pitched, read_pose, upright_pose

# MiniWorld's own clipping planes.
NEAR_M, FAR_M = 0.04, 100.0


class World:
    """A world that was built; `env` is MiniWorld's own environment."""

    def __init__(self, env: Any) -> None:
        self.env = env

    def pose(self) -> Any:
        """Return the body's pose, on the floor."""
        return upright_pose(self.env.agent.pos, self.env.agent.dir)

    def camera_pose(self) -> Any:
        """Return the camera's pose, which looks along its own -z."""
        agent = self.env.agent
        level = upright_pose(agent.cam_pos, agent.dir)
        return pitched(level, math.radians(agent.cam_pitch))

    def place(self, pose: Any) -> None:
        """Move the body at once; raises ValueError where it would not fit."""
        position, direction = read_pose(pose)
        if not self.fits(position):
            raise ValueError(
                f"pose {np.asarray(pose).tolist()!r} is not navigable: the body, of radius "
                f"{self.env.agent.radius} m, would stand in a wall, an object or outside"
            )
        self.env.agent.pos, self.env.agent.dir = position, direction

    def fits(self, position: Any) -> bool:
        """Say whether the body can stand somewhere."""
        env = self.env
        is_inside = any(room.point_inside(position) for room in env.rooms)
        return is_inside and not env.intersect(env.agent, position, env.agent.radius)

    def look(self) -> tuple[Any, Any]:
        """Return what the camera sees: colours and depths in metres along its axis."""
        rgb = self.env.render_obs()
        depth = self.env.obs_fb.get_depth_map(NEAR_M, FAR_M)
        return rgb, depth[:, :, 0]

    def look_from(self, pose: Any) -> tuple[Any, Any]:
        """Return what the camera would see if the body stood at `pose`; it stays where it is."""
        agent = self.env.agent
        before = agent.pos, agent.dir
        agent.pos, agent.dir = read_pose(pose)
        try:
            return self.look()
        finally:
            agent.pos, agent.dir = before

    def intrinsics(self) -> Any:
        """Return the lens (3, 3) in pixels; the field of view is given for the height."""
        width, height = self.env.obs_fb.width, self.env.obs_fb.height
        focal = height / 2 / np.tan(np.radians(self.env.agent.cam_fov_y) / 2)
        return np.array([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1]], np.float64)

    def bounds(self) -> Any:
        """Return the world's lower and upper corner (2, 3)."""
        env = self.env
        top = max(room.wall_height for room in env.rooms)
        return np.array([[env.min_x, 0.0, env.min_z], [env.max_x, top, env.max_z]], np.float64)

    def goal(self) -> Any:
        """Return where the box is that the agent shall reach; None where the task is another."""
        box = getattr(self.env, "box", None)
        return None if box is None else np.array(box.pos, np.float64)

    def is_at_goal(self) -> bool:
        """Say whether the body is as near the box as the task asks for."""
        box = getattr(self.env, "box", None)
        return box is not None and bool(self.env.near(box))
