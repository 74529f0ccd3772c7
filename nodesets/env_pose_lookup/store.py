"""Read what `wayfare bake` wrote: poses, what was seen from each, and the episodes.

Knows nothing of ports. Arrays are mapped into memory, so that only rows that are asked for are
ever read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping

import numpy as np

from nodeset.digest import digest_value

from .files import POSE_SIZE, Files, read_header

MATCHES = ("exact", "nearest")


class NoSuchPoseError(ValueError):
    """A scene was not rendered from a pose, or from none that is near enough."""


@dataclass(frozen=True)
class Output:
    """One output of the tool that rendered: its port, and its rows."""

    name: str
    wire_type: str
    description: str
    rows: Any

    def read(self, row: int) -> Any:
        """Return a row: an array of the file itself, which is not copied, or a number."""
        value = self.rows[row]
        return value.item() if self.wire_type in ("INT", "FLOAT", "BOOL") else value


@dataclass(frozen=True)
class Tolerance:
    """Which stored pose stands for another: the same one, or the nearest that is near enough."""

    match: str
    max_distance_m: float
    max_angle_rad: float


class Scene:
    """The poses of one scene, and where their rows begin."""

    def __init__(self, scene_id: str, poses: Any, first_row: int) -> None:
        self.scene_id = scene_id
        self.poses = poses
        self.first_row = first_row
        self._places: dict[bytes, int] = {}
        """By what `_key` makes of a pose, where the first that is the same stands."""
        self._stored: dict[bytes, int] = {}
        """The same by the bytes of the poses as they are: who goes from pose to pose has those."""

    def row_at(self, pose: Any, tolerance: Tolerance) -> int:
        """Return the row of a pose. Raises NoSuchPoseError, ValueError."""
        if not self._places:
            self._index()
        wanted = np.asarray(pose, np.float64)
        place = self._stored.get(wanted.tobytes())
        if place is not None and wanted.shape == (POSE_SIZE,):
            return self.first_row + place
        _check(wanted)
        place = self._places.get(_key(wanted))
        if place is None and tolerance.match == "nearest":
            place = self._nearest(wanted, tolerance)
        if place is None:
            raise NoSuchPoseError(self._describe(wanted, tolerance))
        return self.first_row + place

    def _index(self) -> None:
        keys = [_key(pose) for pose in self.poses]
        self._places = {key: n for n, key in reversed(list(enumerate(keys)))}
        pairs = zip(self.poses, keys)
        self._stored = {pose.tobytes(): self._places[key] for pose, key in pairs}

    def _nearest(self, wanted: Any, tolerance: Tolerance) -> int | None:
        """Return the nearest pose, of several as near the one turned least, then the first."""
        distances, angles = self._measure(wanted)
        near = np.flatnonzero(
            (distances <= tolerance.max_distance_m) & (angles <= tolerance.max_angle_rad)
        )
        if not len(near):
            return None
        return int(near[np.lexsort((angles[near], distances[near]))[0]])

    def _measure(self, wanted: Any) -> tuple[Any, Any]:
        # Sums are written out: how NumPy adds up may depend on how many rows there are.
        x, y, z = (self.poses[:, axis] - wanted[axis] for axis in range(3))
        turns = [self.poses[:, 3 + axis] * wanted[3 + axis] for axis in range(4)]
        likeness = np.abs(turns[0] + turns[1] + turns[2] + turns[3])
        return np.sqrt(x * x + y * y + z * z), 2.0 * np.arccos(np.minimum(likeness, 1.0))

    def _describe(self, wanted: Any, tolerance: Tolerance) -> str:
        distances, angles = self._measure(wanted)
        best = int(np.lexsort((angles, distances))[0])
        near = f"{distances[best]:.4g} m and {math.degrees(angles[best]):.4g} degrees away"
        rule = "the setting match is 'exact'"
        if tolerance.match == "nearest":
            rule = (
                f"max_distance_m is {tolerance.max_distance_m:.4g}, max_angle_deg "
                f"{math.degrees(tolerance.max_angle_rad):.4g}"
            )
        return (
            f"scene {self.scene_id!r} was not rendered from pose {wanted.tolist()}; of its "
            f"{len(self.poses)} poses the nearest is {self.poses[best].tolist()}, {near}; {rule}"
        )


class Store:
    """One finished store; `digest` (hex) stands for all that it holds."""

    def __init__(self, folder: Path) -> None:
        header = read_header(folder)
        self.folder = folder
        self.split: str = header["split"]
        self.pose_frame: str = header["pose_frame"]
        self.source: str = header["nodeset"]
        self.episodes: list[Mapping[str, Any]] = header["episodes"]
        files = Files(folder, header)
        self.check = files.check
        """Holds the rows from the first one up to another to what was written, each once."""
        self.outputs = [
            Output(o["name"], o["wire_type"], o["description"], files.outputs[o["name"]])
            for o in header["outputs"]
        ]
        poses = files.poses
        self.digest = digest_value([poses, files.digests]).hex()
        self._scenes: dict[int, Scene] = {}
        for entry in header["scenes"]:
            first, stop = entry["first_row"], entry["first_row"] + entry["rows"]
            scene = Scene(entry["scene_id"], poses[first:stop], first)
            self._scenes.update(dict.fromkeys(entry["episodes"], scene))

    def scenes(self) -> list[Scene]:
        """Return all scenes, in the order of their rows."""
        return sorted(dict.fromkeys(self._scenes.values()), key=lambda scene: scene.first_row)

    def scene_of(self, episode_index: int) -> Scene:
        """Return an episode's scene. Raises IndexError where the store has fewer."""
        scene = self._scenes.get(episode_index)
        if scene is None:
            raise IndexError(
                f"episode_index {episode_index!r} is not in store {self.folder}, which has the "
                f"episodes 0 to {len(self.episodes) - 1}"
            )
        return scene


def _check(values: Any) -> None:
    length = float(np.linalg.norm(values[3:])) if values.shape == (7,) else 0.0
    if not np.isfinite(values).all() or abs(length - 1.0) > 1e-3:
        raise ValueError(
            f"pose is {values.tolist()}; it must be seven finite numbers, x y z in metres and a "
            f"quaternion x y z w of length 1"
        )


def _key(pose: Any) -> bytes:
    """Return the same bytes for the same pose: -0 is 0, and a quaternion is its negative."""
    values = np.array(pose, np.float64)
    turned = values[np.flatnonzero(values[3:])[-1] + 3] < 0.0
    if turned:
        values[3:] = -values[3:]
    key: bytes = (values + 0.0).tobytes()
    return key
