"""Find the 36 views of a viewpoint among the rows of a baked store.

Knows nothing of episodes or ports.
"""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Any

import numpy as np

from nodeset import SettingError

from ..env_mp3d.pose import camera_poses, included
from ..env_pose_lookup.store import Output, Store
from ..env_r2r.navigation import NavigationGraph
from ..env_r2r.view import VIEWS

FRAMES = ("mp3d", "habitat")


def viewpoint_poses(graph: NavigationGraph, frame: str = "mp3d") -> np.ndarray:
    """Return the camera's poses (36 V, 7) at the V viewpoints that the graph includes.

    Viewpoints stand in the file's order, and the views of each in theirs. In the frame `mp3d` z is
    up and the camera looks along its own +y; in `habitat` y is up and it looks along its own -z.
    """
    if frame not in FRAMES:
        raise ValueError(f"frame is {frame!r}; it must be one of {', '.join(FRAMES)}")
    poses = camera_poses(graph)
    return poses if frame == "mp3d" else _to_habitat(poses)


class BakedViews:
    """One output of a store that was baked at the `viewpoint_poses` of its scans."""

    def __init__(self, folder: Path, output: str) -> None:
        self._store = Store(folder)
        self._output = self._choose(output)
        # Of a file of a scan, as a renderer of meshes names its scenes, the name is the scan's.
        self._scenes = {PurePath(scene.scene_id).stem: scene for scene in self._store.scenes()}
        self._places: dict[str, dict[str, int]] = {}

    def panorama(self, graph: NavigationGraph, viewpoint: str) -> Any:
        """Return the rows (36, ...) of a viewpoint. Raises KeyError, ValueError."""
        scan = graph.scan
        if scan not in self._places:
            self._places[scan] = self._locate(graph)
        first = self._places[scan].get(viewpoint)
        if first is None:
            raise KeyError(f"store {self._store.folder} has no viewpoint {viewpoint!r} of {scan!r}")
        self._store.check(first, first + VIEWS)
        return self._output.rows[first : first + VIEWS]

    def _choose(self, name: str) -> Output:
        for output in self._store.outputs:
            if output.name == name:
                return output
        names = ", ".join(output.name for output in self._store.outputs)
        raise SettingError(
            f"env_panorama: setting 'output' is {name!r}; store {self._store.folder} has no such "
            f"output; it must be one of {names}: --set nodesets.env_panorama.output=VALUE sets it"
        )

    def _locate(self, graph: NavigationGraph) -> dict[str, int]:
        """Return each viewpoint's first row; only rows at the graph's own poses are taken."""
        scene = self._scenes.get(graph.scan)
        if scene is None:
            raise KeyError(f"store {self._store.folder} has no scan {graph.scan!r}")
        due = viewpoint_poses(graph, self._store.pose_frame or "mp3d")
        if scene.poses.shape != due.shape or not np.allclose(scene.poses, due, atol=1e-6):
            raise ValueError(
                f"store {self._store.folder} was not rendered at the poses that "
                f"env_panorama__viewpoint_poses lists for scan {graph.scan!r}"
            )
        names = [graph.viewpoints[index] for index in included(graph)]
        return {name: scene.first_row + VIEWS * n for n, name in enumerate(names)}


def _to_habitat(poses: np.ndarray) -> np.ndarray:
    """Return poses whose up is y: turned by -90 degrees about x, seen from outside and inside."""
    x, y, z = (poses[:, axis] for axis in range(3))
    turned = np.empty_like(poses)
    turned[:, 0], turned[:, 1], turned[:, 2] = x, z, -y
    # The camera's own axes turn likewise: q' = r q r^-1, with r a quarter turn about x.
    qx, qy, qz, qw = (poses[:, 3 + axis] for axis in range(4))
    turned[:, 3], turned[:, 4], turned[:, 5], turned[:, 6] = qx, qz, -qy, qw
    return turned
