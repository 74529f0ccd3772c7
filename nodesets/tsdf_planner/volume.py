"""Hold one episode's volume: a regular grid over a scene's bounds, at one floor's height.

Knows nothing of frontiers or of how a view becomes distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .fusion import Limits, View, fuse
from .setting import Setting


@dataclass(frozen=True)
class Grid:
    """The grid's lower corner (x, y, z), its number of voxels along each axis, and their size."""

    lower: NDArray[np.float64]
    shape: tuple[int, int, int]
    voxel_m: float
    floor_height_m: float

    def centers(self, axis: int) -> Any:
        """Return the coordinates of the voxels' centres along one axis."""
        return self.lower[axis] + (np.arange(self.shape[axis]) + 0.5) * self.voxel_m

    def cells(self, points: Any) -> Any:
        """Return the floor cells (N, 2) under points (N, 3), clipped into the grid."""
        flat = np.asarray(points, np.float64)[:, [0, 2]] - self.lower[[0, 2]]
        top = np.array([self.shape[0] - 1, self.shape[2] - 1])
        return np.clip(np.floor(flat / self.voxel_m).astype(np.intp), 0, top)

    def points(self, cells: Any) -> Any:
        """Return the points (N, 3) on the floor at the middle of floor cells (N, 2)."""
        flat = self.lower[[0, 2]] + (np.asarray(cells, np.float64) + 0.5) * self.voxel_m
        return np.insert(flat, 1, self.floor_height_m, axis=1)


class Volume:
    """Signed distances in units of the truncation, and how much each voxel was told."""

    def __init__(self, grid: Grid, setting: Setting) -> None:
        self.grid = grid
        self.distance = np.ones(grid.shape, np.float32)
        self.weight = np.zeros(grid.shape, np.float32)
        self.views = 0
        self._centers = [grid.centers(axis) for axis in range(3)]
        self._limits = Limits(setting.truncation_m, setting.voxel_m, setting.max_depth_m)

    def integrate(self, view: View) -> int:
        """Fuse one view; returns how many voxels it told something."""
        self.views += 1
        return fuse(
            self.distance, self.weight, centers=self._centers, view=view, limits=self._limits
        )


def make_grid(bounds: Any, floor_height_m: float, setting: Setting) -> Grid:
    """Lay a grid over bounds (2, 3): lower and upper corner; raises ValueError.

    Of the bounds x and z count; up and down the setting says how far it reaches from the floor.
    """
    corners = np.asarray(bounds, np.float64)
    is_valid = corners.shape == (2, 3) and np.isfinite(corners).all()
    if not is_valid or not (corners[1, [0, 2]] > corners[0, [0, 2]]).all():
        raise ValueError(
            f"bounds is {corners.tolist()!r}; it must be (2, 3): the lower and the upper corner "
            f"x y z in metres, the upper one greater in x and z"
        )
    lower, upper = corners.copy()
    lower[1] = floor_height_m - setting.below_floor_m
    upper[1] = floor_height_m + setting.above_floor_m
    # A rounding error must not add a layer of voxels.
    counts = np.ceil((upper - lower) / setting.voxel_m - 1e-6).astype(int)
    total = int(np.prod(counts))
    if total > setting.max_voxels:
        raise ValueError(
            f"bounds {corners.tolist()!r} take {total} voxels of {setting.voxel_m} m; max_voxels "
            f"is {setting.max_voxels}: give tighter bounds, or raise voxel_m or max_voxels"
        )
    shape = (int(counts[0]), int(counts[1]), int(counts[2]))
    return Grid(lower, shape, setting.voxel_m, floor_height_m)
