"""Turn MiniWorld's positions and directions into poses and back.

Both frames have y up. MiniWorld's direction 0 looks along +x and grows towards -z; a pose in
Habitat's frame with no rotation looks along -z.

Knows nothing of worlds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

UPRIGHT_TOLERANCE = 1e-6


def upright_pose(position: Any, direction: float) -> Any:
    """Return the pose (7,) of a body at `position` that looks along MiniWorld's `direction`."""
    yaw = direction - math.pi / 2
    x, y, z = map(float, position)
    return np.array([x, y, z, 0.0, math.sin(yaw / 2), 0.0, math.cos(yaw / 2)])


def pitched(pose: Any, pitch: float) -> Any:
    """Return an upright pose that looks up by `pitch` radians."""
    x, y, z, _, turn_y, _, turn_w = map(float, pose)
    up_x, up_w = math.sin(pitch / 2), math.cos(pitch / 2)
    return np.array([x, y, z, turn_w * up_x, turn_y * up_w, -turn_y * up_x, turn_w * up_w])


def read_pose(pose: Any) -> tuple[Any, float]:
    """Return a body's position and direction; raises ValueError if it does not stand upright."""
    values = np.asarray(pose, np.float64)
    x, y, z, w = values[3:]
    is_unit = np.isfinite(values).all() and abs(float(np.linalg.norm(values[3:])) - 1.0) < 1e-3
    is_upright = max(abs(x), abs(z)) <= UPRIGHT_TOLERANCE and abs(values[1]) <= UPRIGHT_TOLERANCE
    if not (is_unit and is_upright):
        raise ValueError(
            f"pose is {values.tolist()!r}; it must be a body's: on the floor (y = 0), upright "
            f"(a unit quaternion 0 y 0 w)"
        )
    yaw = 2.0 * math.atan2(float(y), float(w))
    return np.array([values[0], 0.0, values[2]]), yaw + math.pi / 2
