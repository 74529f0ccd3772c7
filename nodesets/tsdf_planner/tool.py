"""The planner's tools: integrate, find_frontiers, integrate_semantics, next_pose.

Knows no simulator: poses are in Habitat's frame, depths in metres.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, Context, PortDef

from .exploration import Exploration
from .fusion import View
from .pose import make_camera

HIDDEN_BY_M = 0.3
NOT_IN_VIEW = -1


class PlannerTool(BaseCanvasNode):
    category = "planner"

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration


class Integrate(PlannerTool):
    node_type = "tsdf_planner__integrate"
    display_name = "Integrate a depth image"
    description = "Fuse one depth image into the episode's volume."
    input_ports = [
        PortDef("depth", "DEPTH", "along the camera's axis; 0: not measured, inf: out of reach"),
        PortDef("pose", "POSE", "the camera's, in Habitat's frame: y up, it looks along -z"),
        PortDef("intrinsics", "ARRAY", "(3, 3), pixels; a centred lens has cx = width / 2"),
        PortDef("bounds", "ARRAY", "(2, 3): the scene's lower and upper corner, metres"),
        PortDef("floor_height", "FLOAT", "y of the floor, metres"),
    ]
    output_ports = [
        PortDef("views", "INT", "depth images in the volume"),
        PortDef("voxels", "INT", "how many voxels this one told something"),
    ]

    def forward(self, inputs: dict[str, Any], ctx: Context) -> dict[str, Any]:
        view = View(inputs["depth"], make_camera(inputs["pose"], inputs["intrinsics"]))
        voxels = self.exploration.integrate(view, inputs["bounds"], inputs["floor_height"])
        return {"views": self.exploration.memory.volume.views, "voxels": voxels}


class FindFrontiers(PlannerTool):
    node_type = "tsdf_planner__find_frontiers"
    display_name = "Find frontiers"
    description = "Find where the known floor ends, and what each such place is worth."
    input_ports = [
        PortDef("pose", "POSE", "the agent's or the camera's"),
        PortDef("depth", "DEPTH", "with intrinsics: where the frontiers are in it", optional=True),
        PortDef("intrinsics", "ARRAY", "(3, 3), pixels", optional=True),
    ]
    output_ports = [
        PortDef("points", "ARRAY", "(F, 3): on the floor, metres, Habitat's frame"),
        PortDef("weights", "ARRAY", "(F,): what each is worth"),
        PortDef("distances", "ARRAY", "(F,): metres on foot"),
        PortDef(
            "pixels", "ARRAY", "(F, 2): column, row; -1 -1 if hidden or outside", optional=True
        ),
        PortDef("map", "ARRAY", "(X, Z) uint8: 0 unknown, 1 free, 2 occupied"),
        PortDef("free_m2", "FLOAT", "area of the floor known to be free"),
    ]

    def forward(self, inputs: dict[str, Any], ctx: Context) -> dict[str, Any]:
        exploration = self.exploration
        scene = exploration.survey(inputs["pose"])
        frontiers = exploration.frontiers(scene)
        cells = np.array([frontier.center for frontier in frontiers], np.intp).reshape(-1, 2)
        points = exploration.grid.points(cells)
        found = {
            "points": points,
            "weights": np.array([frontier.weight for frontier in frontiers], np.float64),
            "distances": np.array([frontier.distance_m for frontier in frontiers], np.float64),
            "map": scene.floor.as_array(),
            "free_m2": float(scene.floor.free.sum()) * exploration.grid.voxel_m**2,
        }
        if "depth" in inputs and "intrinsics" in inputs:
            camera = make_camera(inputs["pose"], inputs["intrinsics"])
            found["pixels"] = _locate(points, View(inputs["depth"], camera))
        return found


class IntegrateSemantics(PlannerTool):
    node_type = "tsdf_planner__integrate_semantics"
    display_name = "Integrate semantic values"
    description = "Take in what a model thinks of places, which draws the agent there."
    input_ports = [
        PortDef("points", "ARRAY", "(N, 3): such as frontiers, metres, Habitat's frame"),
        PortDef("values", "ARRAY", "(N,): how worth exploring each is, 0 to 1"),
        PortDef("global_value", "FLOAT", "how worth exploring the view is, 0 to 1", optional=True),
    ]
    output_ports = [PortDef("cells", "INT", "floor cells whose value changed")]

    def forward(self, inputs: dict[str, Any], ctx: Context) -> dict[str, Any]:
        semantics = self.exploration.memory.semantics
        values = (inputs["points"], inputs["values"], inputs.get("global_value"))
        return {"cells": semantics.integrate(*values)}


class NextPose(PlannerTool):
    node_type = "tsdf_planner__next_pose"
    display_name = "Next pose"
    description = "Choose a frontier and the pose on the way to it that the agent shall take next."
    input_ports = [PortDef("pose", "POSE", "the agent's or the camera's")]
    output_ports = [
        PortDef("pose", "POSE", "on the floor, level, facing the frontier"),
        PortDef(
            "frontier", "ARRAY", "(3,): where it leads to; absent if none is left", optional=True
        ),
        PortDef("distance", "FLOAT", "metres on foot to the frontier"),
        PortDef("done", "BOOL", "no frontier is left; the pose is a quarter turn on the spot"),
    ]

    def forward(self, inputs: dict[str, Any], ctx: Context) -> dict[str, Any]:
        plan = self.exploration.plan(inputs["pose"], ctx.rng)
        answer = {"pose": plan.pose, "distance": plan.distance_m, "done": plan.frontier is None}
        if plan.frontier is not None:
            answer["frontier"] = self.exploration.grid.points([plan.frontier.center])[0]
        return answer


def make_tools(exploration: Exploration) -> list[BaseCanvasNode]:
    """Return one of each tool."""
    return [kind(exploration) for kind in (Integrate, FindFrontiers, IntegrateSemantics, NextPose)]


def _locate(points: Any, view: View) -> Any:
    """Return the pixels (N, 2) of points in a view, -1 -1 where they are outside or hidden."""
    pixels = np.full((len(points), 2), NOT_IN_VIEW, np.int64)
    at, distances = view.camera.see(points)
    height, width = view.depth.shape
    for index, ((u, v), distance) in enumerate(zip(at, distances)):
        if distance > 0.0 and 0.0 <= u < width and 0.0 <= v < height:
            seen = float(view.depth[int(v), int(u)])
            if seen > distance - HIDDEN_BY_M:
                pixels[index] = int(u), int(v)
    return pixels
