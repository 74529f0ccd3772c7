"""Fuse one depth image into a truncated signed distance function (Curless and Levoy, 1996).

The distance is measured along the camera's axis, as in volumetric fusion of range images, and a
voxel keeps the weighted mean of what it was told. Behind a surface the weight falls to 0 at the
truncation, so that a thin wall's two sides do not blur each other.

Knows nothing of frontiers, floors or episodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .pose import Camera

NEAREST_M = 1e-3
# Some planes of the volume at a time stay in cache, and a voxel that the camera can't see is
# dropped before the costly part: a loop compiled by numba was not faster.
_SLAB_VOXELS = 16_384


@dataclass(frozen=True)
class View:
    """A depth image in metres and the camera that took it.

    0 and NaN are no measurement; infinity says that nothing is in reach.
    """

    depth: Any
    camera: Camera


@dataclass(frozen=True)
class Limits:
    """How far a surface is felt, and how far from the camera a voxel may be to be told anything."""

    truncation_m: float
    voxel_m: float
    max_depth_m: float


def fuse(distance: Any, weight: Any, *, centers: Any, view: View, limits: Limits) -> int:
    """Update `distance` and `weight` (X, Y, Z) in place; returns how many voxels were told.

    `centers` are the voxels' coordinates per axis. `distance` is in units of the truncation.
    """
    axes, position = view.camera.axes, view.camera.position
    x, y, z = (axes[:, i, None] * (centers[i] - position[i]) for i in range(3))
    yz = (y[:, :, None] + z[:, None, :])[:, None]
    planes = max(1, _SLAB_VOXELS // (distance.shape[1] * distance.shape[2]))
    told = 0
    for start in range(0, distance.shape[0], planes):
        slab = slice(start, start + planes)
        inside = (x[:, slab, None, None] + yz).reshape(3, -1)
        flat = distance[slab].reshape(-1), weight[slab].reshape(-1)
        told += _fuse_slab(*flat, inside=inside, view=view, limits=limits)
    return told


def _fuse_slab(distance: Any, weight: Any, *, inside: Any, view: View, limits: Limits) -> int:
    """Update flat views of some voxels, whose places in the camera's axes are `inside` (3, N)."""
    at, gap = _measure(inside, view, limits.max_depth_m)
    told = gap > -limits.truncation_m
    at, gap = at[told], gap[told]
    new = np.minimum(gap / limits.truncation_m, 1.0)
    taper = (gap + limits.truncation_m) / (limits.truncation_m - limits.voxel_m)
    gain = np.minimum(taper, 1.0)
    old, had = distance[at].astype(np.float64), weight[at].astype(np.float64)
    distance[at] = (old * had + new * gain) / (had + gain)
    weight[at] = had + gain
    return len(at)


def _measure(inside: Any, view: View, max_depth_m: float) -> tuple[Any, Any]:
    """Return which points fall on a measured pixel, and how far before its surface each lies."""
    camera, depth = view.camera, view.depth
    at = np.flatnonzero((inside[2] > NEAREST_M) & (inside[2] <= max_depth_m))
    right, up, ahead = (axis[at] for axis in inside)
    u = camera.center[0] + camera.focal[0] * right / ahead
    v = camera.center[1] - camera.focal[1] * up / ahead
    seen = (u >= 0.0) & (u < depth.shape[1]) & (v >= 0.0) & (v < depth.shape[0])
    at, u, v, ahead = at[seen], u[seen], v[seen], ahead[seen]
    measured = depth[v.astype(np.intp), u.astype(np.intp)].astype(np.float64)
    is_measured = measured > 0.0
    return at[is_measured], (measured - ahead)[is_measured]
