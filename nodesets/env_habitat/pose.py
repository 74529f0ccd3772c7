"""Poses as they cross the wire: positions and quaternions x y z w in Habitat's frame.

Knows nothing of the simulator. In this frame y is up and a body looks along its own -z.
"""

from __future__ import annotations

import math
from typing import Any, Sequence, Union

import numpy as np

Floats = Union[Sequence[float], np.ndarray]
UNIT_WITHIN = 1e-3
EXACT_WITHIN = 1e-6
"""A quaternion this near to unit length keeps its bits."""


def checked_pose(pose: Floats) -> np.ndarray:
    """Return a pose (7,) with a quaternion of unit length; raises ValueError for what is none."""
    values = np.array(pose, dtype=np.float64)
    if values.shape != (7,) or not np.all(np.isfinite(values)):
        raise ValueError(f"pose {pose!r} must be seven finite numbers: x y z, quaternion x y z w")
    length = float(np.linalg.norm(values[3:]))
    if abs(length - 1.0) > UNIT_WITHIN:
        raise ValueError(f"pose {pose!r} has a quaternion of length {length:.6g}; it must be 1")
    if abs(length - 1.0) > EXACT_WITHIN:
        values[3:] /= length
    return values


def join_pose(position: Floats, rotation: Any) -> np.ndarray:
    """Return a pose (7,) of a position and a quaternion with the parts w, x, y and z."""
    turn = (rotation.x, rotation.y, rotation.z, rotation.w)
    return np.array([*position, *turn], dtype=np.float64)


def yaw_quaternion(angle: float) -> np.ndarray:
    """Return the quaternion x y z w of a turn to the left by `angle` radians."""
    return np.array([0.0, math.sin(0.5 * angle), 0.0, math.cos(0.5 * angle)])


def pitch_quaternion(angle: float) -> np.ndarray:
    """Return the quaternion x y z w of a look upwards by `angle` radians."""
    return np.array([math.sin(0.5 * angle), 0.0, 0.0, math.cos(0.5 * angle)])


def multiply(first: Floats, second: Floats) -> np.ndarray:
    """Return the product of two quaternions x y z w: `second` in the frame of `first`."""
    ax, ay, az, aw = first
    bx, by, bz, bw = second
    return np.array(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]
    )


def rotate(quaternion: Floats, vector: Floats) -> np.ndarray:
    """Return a vector turned by a quaternion x y z w of unit length."""
    axis, scalar = np.asarray(quaternion[:3]), float(quaternion[3])
    twice = 2.0 * np.cross(axis, vector)
    turned: np.ndarray = np.asarray(vector) + scalar * twice + np.cross(axis, twice)
    return turned


def yaw_of(quaternion: Floats) -> float:
    """Return how far to the left of -z a quaternion looks, in radians from -pi to pi."""
    ahead = rotate(quaternion, (0.0, 0.0, -1.0))
    return math.atan2(-float(ahead[0]), -float(ahead[2]))
