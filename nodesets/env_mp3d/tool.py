"""The tools of the simulator: each acts on this copy's one episode.

Knows ports and the episode; what is seen is the simulator's business.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, PortDef

from ..env_r2r.scoring import GOAL_METRICS, PATH_METRICS, score_goal, score_path
from ..env_r2r.view import elevation_rad, heading_rad
from .pose import camera_poses, pose_of
from .rollout import Rollout

SIGHT = [
    PortDef("scan", "TEXT"),
    PortDef("viewpoint", "TEXT"),
    PortDef("view_index", "INT", "12 * row + heading index; row 0 looks down"),
    PortDef("heading", "FLOAT", "radians, clockwise from +y"),
    PortDef("elevation", "FLOAT", "radians, upwards"),
    PortDef("pose", "POSE", "in the frame 'mp3d'"),
    PortDef("instruction", "TEXT"),
]
DONE = PortDef("done", "BOOL", "whether the agent has stopped")
STATE = PortDef("state", "JSON", "viewpoint and view_index, as a submission takes them")


class MatterportTool(BaseCanvasNode):
    category = "environment"

    def __init__(self, rollout: Rollout) -> None:
        self.rollout = rollout

    def describe(self) -> dict[str, Any]:
        here = self.rollout.simulator.stand
        return {
            "scan": here.scan,
            "viewpoint": here.viewpoint,
            "view_index": here.view,
            "heading": heading_rad(here.view),
            "elevation": elevation_rad(here.view),
            "pose": pose_of(here.position, here.view),
            "instruction": self.rollout.task.instruction,
        }

    def state(self) -> dict[str, Any]:
        here = self.rollout.simulator.stand
        return {"viewpoint": here.viewpoint, "view_index": here.view}


class Reset(MatterportTool):
    """Place the agent at the start, looking level in the direction nearest to the given heading."""

    node_type = "env_mp3d__reset"
    display_name = "Reset"
    output_ports = [*SIGHT, STATE]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        self.rollout.restart()
        return {**self.describe(), "state": self.state()}


class TaskOf(MatterportTool):
    """Tell the goal and the reference path, which only a calibrating agent reads."""

    node_type = "env_mp3d__task"
    display_name = "Task (with ground truth)"
    output_ports = [
        PortDef("path", "LIST[TEXT]", "the reference path's viewpoints"),
        PortDef("goal", "TEXT", "the last viewpoint; absent where a split hides it", optional=True),
    ]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        task = self.rollout.task
        goal = {} if task.goal is None else {"goal": task.goal}
        return {"path": list(task.path), **goal}


class ObserveNavigable(MatterportTool):
    """Look ahead: the current place, then the neighbours in view, the most central first."""

    node_type = "env_mp3d__observe_navigable"
    display_name = "Observe the current view"
    output_ports = [
        PortDef("navigable", "JSON", "list of viewpoint, rel_heading, rel_elevation, rel_distance"),
        *SIGHT,
        PortDef("rgb", "IMAGE", "where the scans' images are", optional=True),
        PortDef("depth", "DEPTH", "where the scans' depth images are", optional=True),
    ]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        simulator = self.rollout.simulator
        outputs = {
            "navigable": [sight.as_json() for sight in simulator.navigable()],
            **self.describe(),
        }
        if simulator.camera.renders:
            outputs["rgb"] = simulator.picture()
        if simulator.camera.has_depth:
            outputs["depth"] = simulator.depth_m()
        return outputs


class ObservePanorama(MatterportTool):
    """Look around: every neighbour over the 36 views, each with the view it is most central in."""

    node_type = "env_mp3d__observe_panorama"
    display_name = "Observe the panorama"
    output_ports = [
        PortDef("candidates", "LIST[JSON]", "viewpoint, view, rel_heading, rel_elevation, ..."),
        *SIGHT,
        PortDef("rgb", "ARRAY", "(36, H, W, 3) uint8, where the images are", optional=True),
    ]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        simulator = self.rollout.simulator
        outputs = {
            "candidates": [candidate.as_json() for candidate in simulator.candidates()],
            **self.describe(),
        }
        if simulator.camera.renders:
            outputs["rgb"] = np.stack([simulator.picture() for _ in simulator.look_around()])
        return outputs


class ObservePose(MatterportTool):
    """Look from a viewpoint in one of its 36 views, by the camera's pose; the agent stays."""

    node_type = "env_mp3d__observe_pose"
    display_name = "Observe from a pose"
    input_ports = [PortDef("pose", "POSE", "one of viewpoint_poses")]

    def __init__(self, rollout: Rollout) -> None:
        super().__init__(rollout)
        self.output_ports = [PortDef("rgb", "IMAGE")]
        if rollout.camera.has_depth:
            depth = PortDef("depth", "DEPTH", "metres along the camera's axis")
            self.output_ports = [*self.output_ports, depth]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        simulator = self.rollout.simulator
        with self.rollout.looking_from(inputs["pose"]):
            outputs = {"rgb": simulator.picture()}
            if simulator.camera.has_depth:
                outputs["depth"] = simulator.depth_m()
        return outputs


class ViewpointPoses(MatterportTool):
    """List the camera's poses in the views of all viewpoints of the scan, 36 each."""

    node_type = "env_mp3d__viewpoint_poses"
    display_name = "Viewpoints' poses"
    output_ports = [PortDef("poses", "ARRAY", "(36 V, 7): V viewpoints, 36 views of each")]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"poses": camera_poses(self.rollout.graph)}


class Step(MatterportTool):
    """Act in the view: (index of a navigable place, turn right, look up); (0, 0, 0) stops."""

    node_type = "env_mp3d__step"
    display_name = "Step in the current view"
    input_ports = [PortDef("action", "ACTION", "three numbers")]
    output_ports = [DONE, STATE]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        self.rollout.step(inputs["action"])
        return {"done": self.rollout.has_stopped, "state": self.state()}


class StepWaypoint(MatterportTool):
    """Go to a candidate of the panorama by its index, or stop with -1."""

    node_type = "env_mp3d__step_waypoint"
    display_name = "Step to a waypoint"
    input_ports = [PortDef("action", "INT", "a candidate, or -1")]
    output_ports = [DONE, STATE]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        self.rollout.step_waypoint(inputs["action"])
        return {"done": self.rollout.has_stopped, "state": self.state()}


class Evaluate(MatterportTool):
    """Score the trajectory: NE and TL in metres, SR, OSR, SPL, with a threshold of 3 m."""

    node_type = "env_mp3d__evaluate"
    display_name = "Evaluate"
    output_ports = [PortDef("metrics", "METRICS", ", ".join(GOAL_METRICS))]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        rollout = self.rollout
        return {"metrics": score_goal(rollout.task, rollout.trajectory, rollout.graph)}


class EvaluatePath(MatterportTool):
    """Score the trajectory against goal and reference path: what `evaluate` gives, and nDTW etc."""

    node_type = "env_mp3d__evaluate_path"
    display_name = "Evaluate against the reference path"
    output_ports = [PortDef("metrics", "METRICS", ", ".join(PATH_METRICS))]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        rollout = self.rollout
        return {"metrics": score_path(rollout.task, rollout.trajectory, rollout.graph)}


KINDS = (
    Reset,
    TaskOf,
    ObserveNavigable,
    ObservePanorama,
    ObservePose,
    ViewpointPoses,
    Step,
    StepWaypoint,
    Evaluate,
    EvaluatePath,
)
