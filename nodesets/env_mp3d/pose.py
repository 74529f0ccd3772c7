"""Say where the camera stands in each of a viewpoint's 36 views, and find the view of a pose.

Knows nothing of the simulator. The frame is `mp3d`: metres, z up, headings from +y to the right.
"""

from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np

from ..env_r2r.navigation import NavigationGraph
from ..env_r2r.view import VIEWS, elevation_rad, heading_rad

SAME_PLACE_M = 1e-3
SAME_TURN_RAD = 1e-3
UNIT_WITHIN = 1e-3


def pose_of(position: Sequence[float], view: int) -> np.ndarray:
    """Return position and orientation (7,); the camera looks along its own +y.

    The quaternion (x y z w) turns by the elevation about x, then by the heading about z.
    """
    half_turn, half_lift = -heading_rad(view) / 2.0, elevation_rad(view) / 2.0
    sin_z, cos_z = math.sin(half_turn), math.cos(half_turn)
    sin_x, cos_x = math.sin(half_lift), math.cos(half_lift)
    quaternion = (cos_z * sin_x, sin_z * sin_x, sin_z * cos_x, cos_z * cos_x)
    return np.array([*position, *quaternion], np.float64)


_TURNS = np.array([pose_of((0.0, 0.0, 0.0), view)[3:] for view in range(VIEWS)])


def included(graph: NavigationGraph) -> list[int]:
    """Return the indices of the viewpoints that can be visited, in the file's order."""
    return [index for index, is_in in enumerate(graph.included) if is_in]


def camera_poses(graph: NavigationGraph) -> np.ndarray:
    """Return the camera's poses (36 V, 7) at the V viewpoints that the graph includes.

    Viewpoints stand in the file's order, and the views of each in theirs.
    """
    places = [graph.positions[index] for index in included(graph)]
    return np.array([pose_of(place, view) for place in places for view in range(VIEWS)])


def find_view(graph: NavigationGraph, pose: Any) -> tuple[str, int]:
    """Return the included viewpoint and the view whose camera has a pose. Raises ValueError."""
    values = np.asarray(pose, np.float64)
    length = float(np.linalg.norm(values[3:])) if values.shape == (7,) else 0.0
    if not np.isfinite(values).all() or abs(length - 1.0) > UNIT_WITHIN:
        raise ValueError(
            f"pose is {values.tolist()}; it must be seven finite numbers, x y z in metres and a "
            f"quaternion x y z w of length 1"
        )
    return _find_viewpoint(graph, values[:3]), _find_direction(values[3:] / length)


def _find_viewpoint(graph: NavigationGraph, place: np.ndarray) -> str:
    inside = included(graph)
    away_m = np.linalg.norm(graph.positions[inside] - place, axis=1)
    nearest = int(np.argmin(away_m))
    viewpoint = graph.viewpoints[inside[nearest]]
    if away_m[nearest] > SAME_PLACE_M:
        raise ValueError(
            f"place {place.tolist()} is no viewpoint of scan {graph.scan!r}: the nearest, "
            f"{viewpoint!r}, is {away_m[nearest]:.4g} m away; env_mp3d__viewpoint_poses lists "
            f"those there are"
        )
    return viewpoint


def _find_direction(turn: np.ndarray) -> int:
    likeness = np.abs(_TURNS @ turn)
    view = int(np.argmax(likeness))
    off_rad = 2.0 * math.acos(min(float(likeness[view]), 1.0))
    if off_rad > SAME_TURN_RAD:
        raise ValueError(
            f"quaternion {turn.tolist()} is none of the {VIEWS} views: the nearest, {view}, looks "
            f"{math.degrees(off_rad):.4g} degrees another way, and the simulator none in between"
        )
    return view
