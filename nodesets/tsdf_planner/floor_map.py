"""Project a volume to the floor: what is free, what stands in the way, what is not known.

Knows nothing of what is worth exploring.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Tuple

import numpy as np
from numpy.typing import NDArray

from .setting import Setting
from .volume import Volume

UNKNOWN, FREE, OCCUPIED = 0, 1, 2
Cell = Tuple[int, int]
Mask = NDArray[np.bool_]
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1))
AROUND = (*SIDES, (1, 1), (1, -1), (-1, 1), (-1, -1))
NOT_REACHED = -1


@dataclass(frozen=True)
class FloorMap:
    """Masks over the floor's cells (X, Z)."""

    free: Mask
    occupied: Mask

    @property
    def unknown(self) -> Mask:
        return ~(self.free | self.occupied)

    def as_array(self) -> Any:
        """Return one byte per cell: 0 unknown, 1 free, 2 occupied."""
        return (self.free * FREE + self.occupied * OCCUPIED).astype(np.uint8)


def project(volume: Volume, stood: Mask, setting: Setting) -> FloorMap:
    """Return the floor's map; where the agent `stood` is free whatever was seen of it.

    A cell is occupied if a surface lies above it between what an agent steps over and its height,
    or if one sees down through where the floor should be. It is free if its floor was seen.
    """
    heights = volume.grid.centers(1) - volume.grid.floor_height_m
    rises = (heights > setting.step_over_m) & (heights < setting.agent_height_m)
    low = heights <= setting.step_over_m
    half_voxel = 0.5 * setting.voxel_m / setting.truncation_m
    seen = volume.weight > 0.0
    is_hole = seen[:, 0] & (volume.distance[:, 0] > half_voxel)
    surface = find_surface(volume.distance[:, rises], seen[:, rises], half_voxel)
    occupied = (surface.any(axis=1) | is_hole) & ~stood
    free = (seen[:, low].any(axis=1) | stood) & ~occupied
    return FloorMap(free, occupied)


def find_surface(distance: Any, seen: Mask, half_voxel: float) -> Mask:
    """Return the voxels that a surface passes through, or lies right before.

    Those are the ones within half a voxel of it, and, since a distance along the view exaggerates
    where a surface is seen at a slant, those behind one that have a neighbour before one.
    """
    before = seen & (distance > 0.0)
    is_next = np.zeros_like(before)
    for axis in range(3):
        ahead, back = _halves(axis)
        is_next[ahead] |= before[back]
        is_next[back] |= before[ahead]
    surface: Mask = seen & ((np.abs(distance) <= half_voxel) | ((distance <= 0.0) & is_next))
    return surface


def _halves(axis: int) -> tuple[Any, Any]:
    rest = (slice(None),) * axis
    return (*rest, slice(1, None)), (*rest, slice(None, -1))


def grow(mask: Mask, radius_cells: float) -> Mask:
    """Return the cells whose middle is within `radius_cells` of the middle of one in `mask`."""
    reach = int(radius_cells)
    padded = np.pad(mask, reach)
    grown = np.zeros_like(mask)
    for dx in range(-reach, reach + 1):
        for dz in range(-reach, reach + 1):
            if dx * dx + dz * dz <= radius_cells * radius_cells:
                grown |= _shifted(padded, (dx, dz), reach, mask.shape)
    return grown


def touches(mask: Mask) -> Mask:
    """Return the cells that have one of `mask` at one of their four sides."""
    padded = np.pad(mask, 1)
    touching: Mask = np.logical_or.reduce([_shifted(padded, side, 1, mask.shape) for side in SIDES])
    return touching


def _shifted(padded: Mask, offset: Cell, margin: int, shape: Any) -> Mask:
    x, z = margin + offset[0], margin + offset[1]
    return padded[x : x + shape[0], z : z + shape[1]]


def count_hops(passable: Mask, start: Cell, *, corners: bool = False) -> Any:
    """Return how many cells away each passable cell is from `start`, -1 where there is no way.

    Steps go over the sides, or over the corners too. The start counts whatever it is.
    """
    width = passable.shape[1] + 2
    is_open = np.pad(passable, 1).reshape(-1)
    hops = np.full(is_open.shape, NOT_REACHED, np.int32)
    steps = np.array([x * width + z for x, z in (AROUND if corners else SIDES)])
    wave = np.array([(start[0] + 1) * width + start[1] + 1])
    hops[wave], count = 0, 0
    while len(wave):
        count += 1
        reached = (wave[:, None] + steps).reshape(-1)
        wave = np.unique(reached[is_open[reached] & (hops[reached] == NOT_REACHED)])
        hops[wave] = count
    return hops.reshape(-1, width)[1:-1, 1:-1]


def trace_path(hops: Any, goal: Cell) -> list[Cell]:
    """Return the cells from the start of `count_hops` to `goal`, which must have been reached."""
    path = [goal]
    while hops[path[-1]] > 0:
        x, z = path[-1]
        around = [(x + dx, z + dz) for dx, dz in SIDES if _holds(hops, (x + dx, z + dz))]
        path.append(next(cell for cell in around if hops[cell] == hops[x, z] - 1))
    return path[::-1]


def _holds(array: Any, cell: Cell) -> bool:
    return bool(0 <= cell[0] < array.shape[0] and 0 <= cell[1] < array.shape[1])
