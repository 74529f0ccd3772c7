"""The environment's tools: begin, move, look, and score; the state is the copy's.

Knows nothing of how an episode is chosen or of who decides what to do.
"""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from nodeset import BaseCanvasNode, Context, PortDef, Settings

from .pose import multiply, yaw_quaternion
from .rollout import Rollout
from .settings import read_grid

MAX_VIEWS = 360
_POSE = PortDef("pose", "POSE", "the body's, in Habitat's frame")
_VIEW = [
    PortDef("rgb", "IMAGE"),
    PortDef("depth", "DEPTH", "metres, clipped to the calibre's range"),
]
_INTRINSICS = [
    PortDef("intrinsics", "ARRAY", "(3, 3) of the colour camera, pixels"),
    PortDef("depth_intrinsics", "ARRAY", "(3, 3) of the depth camera, pixels"),
]
_DONE = PortDef("done", "BOOL", "whether the agent has stopped")


class HabitatTool(BaseCanvasNode):
    """A tool over the copy's running episode."""

    category = "environment"

    def __init__(self, rollout: Rollout) -> None:
        self.rollout = rollout

    def intrinsics(self) -> dict[str, Any]:
        """Return both cameras' matrices."""
        calibre = self.rollout.calibre
        return {
            "intrinsics": calibre.rgb.intrinsics(),
            "depth_intrinsics": calibre.depth.intrinsics(),
        }


class Reset(HabitatTool):
    """Tell what the episode asks for and where it begins; the episode has begun already."""

    node_type = "env_habitat__reset"
    display_name = "Reset"
    output_ports = [
        _POSE,
        PortDef("instruction", "TEXT", "of VLN-CE", optional=True),
        PortDef("goal", "ARRAY", "(3,) of PointNav", optional=True),
        PortDef("category", "TEXT", "of ObjectNav", optional=True),
    ]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        task = self.rollout.task
        ctx.log("habitat_sim", self.rollout.simulator.version)
        told: dict[str, Any] = {"pose": self.rollout.simulator.body.pose()}
        if task.instruction:
            told["instruction"] = task.instruction
        elif task.category:
            told["category"] = task.category
        else:
            told["goal"] = np.array(task.goals[0], dtype=np.float64)
        return told


class TaskOf(HabitatTool):
    """Tell the goals, the reference path and the teacher's way, which no agent under test reads."""

    node_type = "env_habitat__task"
    display_name = "Task (with ground truth)"
    output_ports = [
        PortDef("goals", "ARRAY", "(n, 3), the places that count as the goal"),
        PortDef("reference_path", "ARRAY", "(n, 3)", optional=True),
        PortDef("locations", "ARRAY", "(n, 3), where the teacher's actions lead", optional=True),
        PortDef("actions", "LIST[INT]", "the teacher's, STOP at the end", optional=True),
    ]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        task = self.rollout.task
        told: dict[str, Any] = {"goals": np.array(task.goals, dtype=np.float64)}
        if task.reference_path:
            told["reference_path"] = np.array(task.reference_path, dtype=np.float64)
        if task.ground_truth is not None:
            told["locations"] = np.array(task.ground_truth.locations, dtype=np.float64)
            told["actions"] = list(task.ground_truth.actions)
        return told


class StepDiscrete(HabitatTool):
    """Take one action: 0 STOP, 1 forward, 2 left, 3 right; with a tilt 4 up and 5 down."""

    node_type = "env_habitat__step_discrete"
    display_name = "Step"
    input_ports = [PortDef("action", "INT", "0 STOP, 1 forward, 2 left, 3 right, 4 up, 5 down")]
    output_ports = [_POSE, PortDef("collided", "BOOL", "whether the body bumped"), _DONE]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        collided = self.rollout.act(inputs["action"])
        return {
            "pose": self.rollout.simulator.body.pose(),
            "collided": collided,
            "done": self.rollout.is_stopped,
        }


class StepPose(HabitatTool):
    """Go to a pose at once; its position must be navigable."""

    node_type = "env_habitat__step_pose"
    display_name = "Go to a pose"
    input_ports = [_POSE]
    output_ports = [_POSE]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        self.rollout.teleport(inputs["pose"])
        return {"pose": self.rollout.simulator.body.pose()}


class ObserveEgocentric(HabitatTool):
    """Look ahead from where the body is."""

    node_type = "env_habitat__observe_egocentric"
    display_name = "Observe"
    output_ports = [
        *_VIEW,
        _POSE,
        PortDef("camera_pose", "POSE", "the colour camera's, which looks along its own -z"),
        *_INTRINSICS,
    ]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        body = self.rollout.simulator.body
        view = body.look()
        return {
            "rgb": view.rgb,
            "depth": view.depth,
            "pose": body.pose(),
            "camera_pose": body.camera_pose(),
            **self.intrinsics(),
        }


class ObservePanorama(HabitatTool):
    """Look around: `views` level views, the first ahead, each further to the right."""

    node_type = "env_habitat__observe_panorama"
    display_name = "Observe the panorama"
    default_config = {"views": 12}
    output_ports = [
        PortDef("rgb", "ARRAY", "(views, H, W, 3) uint8"),
        PortDef("depth", "ARRAY", "(views, H, W) float32, metres"),
        PortDef("headings", "ARRAY", "(views,), radians to the right of where the body faces"),
        _POSE,
        *_INTRINSICS,
    ]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        count = Settings(ctx.config, self.node_type).whole("views", 1, MAX_VIEWS)
        headings = np.arange(count) * (2.0 * np.pi / count)
        body = self.rollout.simulator.body
        here, camera = body.pose(), body.level_camera_pose()
        turns = [multiply(here[3:], yaw_quaternion(-heading)) for heading in headings]
        seen = [body.look_from(np.concatenate([camera[:3], turn])) for turn in turns]
        return {
            "rgb": np.stack([view.rgb for view in seen]),
            "depth": np.stack([view.depth for view in seen]),
            "headings": headings,
            "pose": here,
            **self.intrinsics(),
        }


class ObserveCameraPose(HabitatTool):
    """Look from any camera pose, navigable or not; the body stays where it is."""

    node_type = "env_habitat__observe_camera_pose"
    display_name = "Observe from a camera pose"
    input_ports = [PortDef("camera_pose", "POSE", "it looks along its own -z")]
    output_ports = [*_VIEW, *_INTRINSICS]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        view = self.rollout.simulator.body.look_from(inputs["camera_pose"])
        return {"rgb": view.rgb, "depth": view.depth, **self.intrinsics()}


class ObservePose(HabitatTool):
    """Look ahead from a body's pose, navigable or not; the body stays where it is."""

    node_type = "env_habitat__observe_pose"
    display_name = "Observe from a pose"
    input_ports = [_POSE]
    output_ports = [*_VIEW, *_INTRINSICS]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        view = self.rollout.simulator.body.look_standing(inputs["pose"])
        return {"rgb": view.rgb, "depth": view.depth, **self.intrinsics()}


class NavigablePoses(HabitatTool):
    """List where a body can stand in a grid on the navigation mesh, by x, z, y and heading."""

    node_type = "env_habitat__navigable_poses"
    display_name = "Navigable poses"
    default_config = {"spacing_m": 0.5, "headings": 4}
    output_ports = [PortDef("poses", "ARRAY", "(N, 7): bodies' poses, level")]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        spacing_m, headings = read_grid(ctx.config)
        turns = [yaw_quaternion(2.0 * np.pi * index / headings) for index in range(headings)]
        places = self.rollout.simulator.ground.places(spacing_m)
        poses = [np.concatenate([place, turn]) for place in places for turn in turns]
        return {"poses": np.array(poses, np.float64).reshape(-1, 7)}


class Evaluate(HabitatTool):
    """Score the episode: NE and TL in metres, SR, OSR, SPL, and nDTW and sDTW where due."""

    node_type = "env_habitat__evaluate"
    display_name = "Evaluate"
    output_ports = [PortDef("metrics", "METRICS", "NE, TL, SR, OSR, SPL; VLN-CE: nDTW, sDTW")]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        return {"metrics": self.rollout.evaluate()}


TOOLS = (
    Reset,
    TaskOf,
    StepDiscrete,
    StepPose,
    ObserveEgocentric,
    ObservePanorama,
    ObserveCameraPose,
    ObservePose,
    NavigablePoses,
    Evaluate,
)
