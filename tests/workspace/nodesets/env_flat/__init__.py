"""A flat made of boxes, which an agent explores by depth images; pure functions of its poses."""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef

from .boxes import make_lens, render_depth

HEIGHT_M = 2.5
EYE_M = 1.5
TILT_DEG = -30.0
CELL_M = 0.1
RADIUS_M = 0.2
LENS = make_lens(120, 90, 120.0)
SIZE = (10.0, 8.0)
# x from, z from, x to, z to, height: outer walls, inner walls with doors between them, furniture.
_STANDING = [
    (0.0, 0.0, 10.0, 0.1, HEIGHT_M),
    (0.0, 7.9, 10.0, 8.0, HEIGHT_M),
    (0.0, 0.0, 0.1, 8.0, HEIGHT_M),
    (9.9, 0.0, 10.0, 8.0, HEIGHT_M),
    (4.0, 0.0, 4.1, 1.5, HEIGHT_M),
    (4.0, 2.5, 4.1, 5.5, HEIGHT_M),
    (4.0, 6.5, 4.1, 8.0, HEIGHT_M),
    (0.0, 4.0, 1.5, 4.1, HEIGHT_M),
    (2.5, 4.0, 7.0, 4.1, HEIGHT_M),
    (8.0, 4.0, 10.0, 4.1, HEIGHT_M),
    (1.0, 1.0, 2.0, 1.6, 0.8),
    (6.0, 1.0, 7.5, 2.5, 0.5),
    (8.5, 6.5, 9.9, 7.9, 2.0),
    (2.0, 5.5, 2.4, 6.5, 1.0),
]
STARTS = [(2.5, 2.5), (8.5, 3.0), (1.0, 7.0), (6.0, 6.0)]


def make_boxes() -> Any:
    """Return the flat's boxes (N, 2, 3), floor and ceiling among them."""
    boxes = [[[x, 0.0, z], [to_x, top, to_z]] for x, z, to_x, to_z, top in _STANDING]
    for low, high in ((-0.2, 0.0), (HEIGHT_M, HEIGHT_M + 0.2)):
        boxes.append([[0.0, low, 0.0], [SIZE[0], high, SIZE[1]]])
    return np.array(boxes)


def make_truth() -> Any:
    """Return the cells (X, Z) on whose middle an agent of its radius can stand."""
    x, z = np.meshgrid(*[np.arange(int(s / CELL_M)) * CELL_M + 0.05 for s in SIZE], indexing="ij")
    stands = np.ones(x.shape, np.bool_)
    for from_x, from_z, to_x, to_z, _ in _STANDING:
        dx = np.maximum(np.maximum(from_x - x, x - to_x), 0.0)
        dz = np.maximum(np.maximum(from_z - z, z - to_z), 0.0)
        stands &= np.hypot(dx, dz) >= RADIUS_M
    return stands


def tilt(pose: Any) -> Any:
    """Return the camera's pose for an upright agent's: raised, and tilted down."""
    half = np.radians(TILT_DEG) / 2
    _, y, _, w = pose[3:]
    turned = [w * np.sin(half), y * np.cos(half), -y * np.sin(half), w * np.cos(half)]
    return np.array([pose[0], pose[1] + EYE_M, pose[2], *turned])


def axes_of(pose: Any) -> Any:
    """Return the pose's axes as columns (3, 3), by turning the unit vectors one by one."""
    vector, w = np.asarray(pose[3:6]), pose[6]
    units = np.eye(3)
    cross = np.cross(vector, units)
    return (units + 2 * (w * cross + np.cross(vector, cross))).T


class _FlatTool(BaseCanvasNode):
    def __init__(self, flat: FlatNodeSet) -> None:
        self.flat = flat


class Reset(_FlatTool):
    node_type = "env_flat__reset"
    input_ports = [PortDef("episode_index", "INT")]
    output_ports = [
        PortDef("pose", "POSE"),
        PortDef("bounds", "ARRAY"),
        PortDef("floor_height", "FLOAT"),
    ]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        x, z = STARTS[inputs["episode_index"]]
        bounds = np.array([[0.0, 0.0, 0.0], [SIZE[0], HEIGHT_M, SIZE[1]]])
        pose = np.array([x, 0.0, z, 0.0, 0.0, 0.0, 1.0])
        return {"pose": pose, "bounds": bounds, "floor_height": 0.0}


class Observe(_FlatTool):
    node_type = "env_flat__observe"
    input_ports = [PortDef("pose", "POSE")]
    output_ports = [
        PortDef("depth", "DEPTH"),
        PortDef("camera_pose", "POSE"),
        PortDef("intrinsics", "ARRAY"),
    ]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        camera = tilt(inputs["pose"])
        depth = render_depth(self.flat.boxes, camera[:3], axes=axes_of(camera), lens=LENS)
        return {"depth": depth, "camera_pose": camera, "intrinsics": LENS.matrix()}


class StepPose(_FlatTool):
    node_type = "env_flat__step_pose"
    input_ports = [PortDef("pose", "POSE")]
    output_ports = [PortDef("pose", "POSE")]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        pose = inputs["pose"]
        x, z = np.floor(pose[[0, 2]] / CELL_M).astype(int)
        if pose[1] != 0.0 or not self.flat.truth[x, z]:
            raise ValueError(f"nobody can stand at {pose.tolist()}")
        return {"pose": pose}


class Evaluate(_FlatTool):
    node_type = "env_flat__evaluate"
    input_ports = [PortDef("map", "ARRAY")]
    output_ports = [PortDef("metrics", "METRICS")]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        known_free = (inputs["map"] == 1) & self.flat.truth
        return {"metrics": {"coverage": float(known_free.sum() / self.flat.truth.sum())}}


class FlatNodeSet(BaseNodeSet):
    name = "env_flat"
    parallelism = "shared"

    def __init__(self) -> None:
        self.boxes, self.truth = make_boxes(), make_truth()

    def get_tools(self) -> list[BaseCanvasNode]:
        return [kind(self) for kind in (Reset, Observe, StepPose, Evaluate)]

    def get_eval_metadata(self) -> dict[str, Any]:
        return {
            "splits": ["test"],
            "default_split": "test",
            "metrics": ["coverage"],
            "step_budget": 60,
            "pose_frame": "habitat",
        }

    def get_episodes(self, split: str) -> list[Episode]:
        return [Episode(str(index), scene_id="flat") for index in range(len(STARTS))]
