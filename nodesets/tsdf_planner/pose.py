"""Poses in Habitat's frame (y up, the camera looks along -z, x to its right) and pinhole cameras.

Knows nothing of volumes or plans.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Camera:
    """Where a pinhole camera is, which way it looks, and its lens in pixels.

    The pixel in column c and row r covers c <= u < c + 1 and r <= v < r + 1, so a centred lens has
    `center` (width / 2, height / 2). `axes` has as rows: right, up, forward.
    """

    position: NDArray[np.float64]
    axes: NDArray[np.float64]
    focal: tuple[float, float]
    center: tuple[float, float]

    def see(self, points: Any) -> tuple[Any, Any]:
        """Return pixel coordinates (N, 2) as (u, v), and depths (N,) in metres.

        Points behind the camera have a depth below 0 and no meaningful pixel.
        """
        inside = (np.asarray(points, np.float64) - self.position) @ self.axes.T
        depth = inside[:, 2]
        safe = np.where(depth > 0.0, depth, 1.0)
        u = self.center[0] + self.focal[0] * inside[:, 0] / safe
        v = self.center[1] - self.focal[1] * inside[:, 1] / safe
        return np.stack([u, v], axis=1), depth


def make_camera(pose: Any, intrinsics: Any) -> Camera:
    """Check a pose (7,) and a lens (3, 3); raises ValueError."""
    lens = np.asarray(intrinsics, np.float64)
    if lens.shape != (3, 3) or not np.isfinite(lens).all() or min(lens[0, 0], lens[1, 1]) <= 0:
        raise ValueError(
            f"intrinsics is {lens.tolist()!r}; it must be (3, 3), in pixels: "
            f"[[fx, 0, cx], [0, fy, cy], [0, 0, 1]]"
        )
    right, up, back = rotation(pose).T
    return Camera(
        position=np.asarray(pose[:3], np.float64),
        axes=np.stack([right, up, -back]),
        focal=(float(lens[0, 0]), float(lens[1, 1])),
        center=(float(lens[0, 2]), float(lens[1, 2])),
    )


def rotation(pose: Any) -> NDArray[np.float64]:
    """Return the matrix (3, 3) whose columns are the pose's x, y and z axes in the world."""
    values = np.asarray(pose, np.float64)
    length = float(np.linalg.norm(values[3:]))
    if not np.isfinite(values).all() or abs(length - 1.0) > 1e-3:
        raise ValueError(
            f"pose is {values.tolist()!r}; it must be finite, with a quaternion x y z w of length 1"
        )
    x, y, z, w = values[3:] / length
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def heading_of(pose: Any) -> NDArray[np.float64]:
    """Return the direction (x, z) that a pose faces on the floor, of length 1."""
    forward = -rotation(pose)[:, 2]
    flat = np.array([forward[0], forward[2]])
    length = float(np.linalg.norm(flat))
    return flat / length if length > 1e-9 else np.array([0.0, -1.0])


def upright_pose(point: Any, direction: Any) -> NDArray[np.float64]:
    """Return the pose at `point` (x, y, z) that faces `direction` (x, z), level."""
    yaw = math.atan2(-float(direction[0]), -float(direction[1]))
    turn = [0.0, math.sin(yaw / 2), 0.0, math.cos(yaw / 2)]
    return np.array([*map(float, point), *turn], np.float64)
