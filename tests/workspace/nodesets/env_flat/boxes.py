"""Cast rays at solid boxes, exactly: depth images of rooms whose every surface is known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Lens(NamedTuple):
    """A pinhole camera's size in pixels and its focal length."""

    width: int
    height: int
    focal: float

    def matrix(self) -> Any:
        center = (self.width / 2, self.height / 2)
        return np.array([[self.focal, 0, center[0]], [0, self.focal, center[1]], [0, 0, 1.0]])

    def rays(self) -> Any:
        """Return directions (H, W, 3) in the camera's frame (y up, looking along -z), depth 1."""
        u = (np.arange(self.width) + 0.5 - self.width / 2) / self.focal
        v = (self.height / 2 - np.arange(self.height) - 0.5) / self.focal
        x, y = np.meshgrid(u, v)
        return np.stack([x, y, -np.ones_like(x)], axis=-1)


def make_lens(width: int, height: int, hfov_deg: float) -> Lens:
    return Lens(width, height, width / 2 / np.tan(np.radians(hfov_deg) / 2))


def cast(boxes: Any, position: Any, rays: Any) -> Any:
    """Return for each ray (..., 3) how often it reaches until it meets a box; inf if none.

    `boxes` (N, 2, 3) are lower and upper corners, none of which holds the position.
    """
    with np.errstate(divide="ignore"):
        inverse = 1.0 / np.ascontiguousarray(np.moveaxis(rays, -1, 0).reshape(3, -1))
    nearest = np.full(inverse.shape[1], np.inf)
    for box in np.asarray(boxes, np.float64):
        low, high = ((corner - position)[:, None] * inverse for corner in box)
        enter, leave = np.minimum(low, high).max(axis=0), np.maximum(low, high).min(axis=0)
        np.minimum(nearest, enter, out=nearest, where=(enter <= leave) & (enter > 0))
    return nearest.reshape(rays.shape[:-1])


def render_depth(boxes: Any, position: Any, *, axes: Any, lens: Lens) -> Any:
    """Return the depth image (H, W) of a camera whose x, y and z axes are the columns of `axes`."""
    rays = lens.rays() @ np.asarray(axes).T
    return cast(boxes, np.asarray(position, np.float64), rays).astype(np.float32)


def distance_to(boxes: Any, points: Any) -> Any:
    """Return how far points (N, 3) are from the nearest box's surface, inside or outside."""
    nearest = np.full(len(points), np.inf)
    for lower, upper in np.asarray(boxes, np.float64):
        outside = np.maximum(np.maximum(lower - points, points - upper), 0.0)
        inside = np.minimum(points - lower, upper - points).min(axis=1)
        gap = np.linalg.norm(outside, axis=1)
        nearest = np.minimum(nearest, np.where(gap > 0, gap, inside))
    return nearest
