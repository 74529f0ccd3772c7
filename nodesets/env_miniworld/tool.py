"""The environment's tools: begin, move, look, score; the state is the copy's.

Knows nothing of OpenGL or of who decides what to do.
"""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from nodeset import BaseCanvasNode, Context, PortDef, Settings

from .pose import upright_pose
from .rollout import Rollout

LEAST_SPACING_M, MAX_SPACING_M = 0.01, 1000.0
MAX_HEADINGS = 360
_RGB = PortDef("rgb", "IMAGE")
_DEPTH = PortDef("depth", "DEPTH", "metres along the camera's axis")
_POSE = PortDef("pose", "POSE", "the body's, on the floor, in Habitat's frame")
_CAMERA_POSE = PortDef("camera_pose", "POSE", "the camera's, which looks along its own -z")
_INTRINSICS = PortDef("intrinsics", "ARRAY", "(3, 3), pixels; cx = width / 2")
_DONE = PortDef("done", "BOOL", "there is no further step")


class MiniWorldTool(BaseCanvasNode):
    """A tool over the copy's running episode."""

    category = "environment"

    def __init__(self, rollout: Rollout) -> None:
        self.rollout = rollout


class Reset(MiniWorldTool):
    """Show where the episode begins; it has begun already."""

    node_type = "env_miniworld__reset"
    display_name = "Reset"
    output_ports = [
        _RGB,
        _POSE,
        PortDef("action_space", "JSON", "the actions, described as data"),
        PortDef("bounds", "ARRAY", "(2, 3): the world's lower and upper corner, metres"),
        PortDef("floor_height", "FLOAT", "y of the floor, metres"),
    ]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        world = self.rollout.world
        actions = int(world.env.action_space.n)
        return {
            "rgb": world.look()[0],
            "pose": world.pose(),
            "action_space": {"kind": "discrete", "n": actions, "start": 0},
            "bounds": world.bounds(),
            "floor_height": 0.0,
        }


class TaskOf(MiniWorldTool):
    """Tell where the goal is, which no agent under test reads."""

    node_type = "env_miniworld__task"
    display_name = "Task (with ground truth)"
    output_ports = [
        PortDef("goal", "ARRAY", "(3,): the box to reach, if that is it", optional=True)
    ]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        return {"goal": self.rollout.world.goal()}


class Step(MiniWorldTool):
    """Take an action: 0 left, 1 right, 2 forward; some worlds know more."""

    node_type = "env_miniworld__step"
    display_name = "Step"
    input_ports = [
        PortDef("action", "ACTION", "0 left, 1 right, 2 forward, 3 back, 4 pick up, ...")
    ]
    output_ports = [
        _RGB,
        _POSE,
        PortDef("reward", "FLOAT"),
        PortDef("terminated", "BOOL", "the task is done"),
        PortDef("truncated", "BOOL", "the world's own limit of steps is reached"),
        _DONE,
    ]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        outcome = self.rollout.step(inputs["action"])
        return {
            "rgb": outcome.rgb,
            "pose": self.rollout.world.pose(),
            "reward": outcome.reward,
            "terminated": outcome.terminated,
            "truncated": outcome.truncated,
            "done": outcome.done,
        }


class StepPose(MiniWorldTool):
    """Go to a pose at once; the body must fit there."""

    node_type = "env_miniworld__step_pose"
    display_name = "Go to a pose"
    input_ports = [_POSE]
    output_ports = [_POSE, PortDef("done", "BOOL", "the body is at the goal")]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        self.rollout.teleport(inputs["pose"])
        return {"pose": self.rollout.world.pose(), "done": self.rollout.world.is_at_goal()}


class Observe(MiniWorldTool):
    """Look ahead from where the body is."""

    node_type = "env_miniworld__observe"
    display_name = "Observe"
    output_ports = [_RGB, _DEPTH, _POSE, _CAMERA_POSE, _INTRINSICS]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        world = self.rollout.world
        rgb, depth = world.look()
        return {
            "rgb": rgb,
            "depth": depth,
            "pose": world.pose(),
            "camera_pose": world.camera_pose(),
            "intrinsics": world.intrinsics(),
        }


class ObservePose(MiniWorldTool):
    """Look from a body's pose, navigable or not; the body stays where it is."""

    node_type = "env_miniworld__observe_pose"
    display_name = "Observe from a pose"
    input_ports = [_POSE]
    output_ports = [_RGB, _DEPTH, _INTRINSICS]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        rgb, depth = self.rollout.world.look_from(inputs["pose"])
        return {"rgb": rgb, "depth": depth, "intrinsics": self.rollout.world.intrinsics()}


class NavigablePoses(MiniWorldTool):
    """List the poses of a grid in which the body can stand, in the order of x, z and heading."""

    node_type = "env_miniworld__navigable_poses"
    display_name = "Navigable poses"
    default_config = {"spacing_m": 0.5, "headings": 4}
    output_ports = [PortDef("poses", "ARRAY", "(N, 7): bodies' poses, in Habitat's frame")]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        settings = Settings(ctx.config, self.node_type)
        spacing_m = settings.number("spacing_m", LEAST_SPACING_M, MAX_SPACING_M)
        headings = settings.whole("headings", 1, MAX_HEADINGS)
        (from_x, _, from_z), (to_x, _, to_z) = self.rollout.world.bounds()
        places = [
            np.array([x, 0.0, z])
            for x in np.arange(from_x + spacing_m / 2, to_x, spacing_m)
            for z in np.arange(from_z + spacing_m / 2, to_z, spacing_m)
        ]
        turns = [2 * np.pi * index / headings for index in range(headings)]
        poses = [
            upright_pose(place, turn)
            for place in places
            if self.rollout.world.fits(place)
            for turn in turns
        ]
        return {"poses": np.array(poses, np.float64).reshape(-1, 7)}


class Evaluate(MiniWorldTool):
    """Score the episode so far: return, length, success, TL in metres. Order it by `after`."""

    node_type = "env_miniworld__evaluate"
    display_name = "Evaluate"
    output_ports = [PortDef("metrics", "METRICS", "return, length, success, TL")]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        return {"metrics": self.rollout.evaluate()}


def make_tools(rollout: Rollout) -> list[BaseCanvasNode]:
    """Return one of each tool."""
    kinds = (Reset, TaskOf, Step, StepPose, Observe, ObservePose, NavigablePoses, Evaluate)
    return [kind(rollout) for kind in kinds]
