"""Walk over a grid of poses: turn, or go on to the place ahead, where one has been least.

Knows no environment: the poses and what is seen from them come in by ports. Places are told apart
by x and z, and the way ahead is -z, as in Habitat's frame.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, PortDef, Settings

SAME_PLACE_M = 1e-6
MAX_CLEARANCE_M = 1000.0
SAME_TURN_RAD = 1e-3
ASIDE = 0.1
"""How far from the middle a place may lie and still be ahead, as a share of its distance."""
# As ANY they are not stacked, so that grids of several sizes are served in one batch.
_POSES = PortDef("poses", "ANY", "an array (N, 7): where one can be")
_VISITS = PortDef("visits", "ANY", "an array (N,) of int64: how often one has been in each")
_POSE = PortDef("pose", "POSE", "one of the poses")


class GridStart(BaseCanvasNode):
    """Begin at the first of the poses."""

    node_type = "policy_planner__grid_start"
    display_name = "Begin on a grid"
    category = "policy"
    input_ports = [_POSES]
    output_ports = [_POSE, _VISITS]
    batched = True
    batch_dim = "poses"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        grids = inputs["poses"]
        visits = [np.zeros(len(poses), np.int64) for poses in grids]
        for row in visits:
            row[0] = 1
        return {"pose": [np.array(poses[0]) for poses in grids], "visits": visits}


class GridWalk(BaseCanvasNode):
    """Go ahead if nothing is in the way, or turn, whichever was done least; else to the open side.

    `done` says that one has been in all poses.
    """

    node_type = "policy_planner__grid_walk"
    display_name = "Walk over a grid"
    category = "policy"
    input_ports = [_POSES, _POSE, PortDef("depth", "DEPTH"), _VISITS]
    output_ports = [_POSE, _VISITS, PortDef("coverage", "FLOAT"), PortDef("done", "BOOL")]
    batched = True
    batch_dim = "pose"
    default_config = {"clearance_m": 0.3}

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        columns = zip(inputs["poses"], inputs["pose"], inputs["depth"], inputs["visits"])
        clearance_m = Settings(ctx.config, self.node_type).number("clearance_m", 0, MAX_CLEARANCE_M)
        rows = [
            walk(poses, pose, depth, visits=visits, clearance_m=clearance_m)
            for poses, pose, depth, visits in columns
        ]
        return {port.name: [row[port.name] for row in rows] for port in self.output_ports}


TOOLS = (GridStart, GridWalk)


def make_grid(side: int, headings: int) -> Any:
    """Return the poses (N, 7) of a square of places a metre apart."""
    halves = [math.pi * number / headings for number in range(headings)]
    return np.array(
        [
            [x, 0.0, z, 0.0, math.sin(half), 0.0, math.cos(half)]
            for x in range(side)
            for z in range(side)
            for half in halves
        ],
        np.float64,
    )


def walk(poses: Any, pose: Any, depth: Any, *, visits: Any, clearance_m: float) -> dict[str, Any]:
    """Return one row's outputs; `visits` stays as it was given."""
    choices = _list_choices(poses, pose, depth, clearance_m=clearance_m)
    chosen = min(choices, key=lambda place: int(visits[place]))
    after = np.array(visits)
    after[chosen] += 1
    seen = int(np.count_nonzero(after))
    return {
        "pose": np.array(poses[chosen]),
        "visits": after,
        "coverage": seen / len(poses),
        "done": seen == len(poses),
    }


def _list_choices(poses: Any, pose: Any, depth: Any, *, clearance_m: float) -> list[int]:
    """Return the poses one may go to next, the preferred ones first; where one is if nowhere."""
    x, z = poses[:, 0] - pose[0], poses[:, 2] - pose[2]
    distances = np.sqrt(x * x + z * z)
    turns = _turns(poses, pose)
    height, width = depth.shape
    free_m = float(depth[height // 2, width // 2]) - clearance_m
    choices = _find_ahead(x, z, pose, turns=turns, free_m=free_m)
    here = distances < SAME_PLACE_M
    left = _least(np.where(here & (turns > SAME_TURN_RAD), turns, np.inf))
    right = _least(np.where(here & (turns < -SAME_TURN_RAD), -turns, np.inf))
    is_left_open = float(depth[:, : width // 2].mean()) >= float(depth[:, width // 2 :].mean())
    choices += [*left, *right] if is_left_open else [*right, *left]
    return choices or [int(np.argmin(distances + np.abs(turns)))]


def _find_ahead(x: Any, z: Any, pose: Any, *, turns: Any, free_m: float) -> list[int]:
    """Return the nearest place ahead that is seen to be free, with the same heading."""
    yaw = _yaw(pose)
    ahead_x, ahead_z = -math.sin(yaw), -math.cos(yaw)
    along, aside = x * ahead_x + z * ahead_z, np.abs(x * ahead_z - z * ahead_x)
    fits = (along > SAME_PLACE_M) & (aside <= ASIDE * along) & (np.abs(turns) < SAME_TURN_RAD)
    nearest = _least(np.where(fits, along, np.inf))
    return [place for place in nearest if along[place] <= free_m]


def _least(values: Any) -> list[int]:
    best = int(np.argmin(values))
    return [best] if np.isfinite(values[best]) else []


def _turns(poses: Any, pose: Any) -> Any:
    """Return how far to the left of `pose` each of the poses looks, from -pi to pi."""
    x, y, z, w = (poses[:, 3 + axis] for axis in range(4))
    yaws = np.arctan2(2.0 * (x * z + w * y), 1.0 - 2.0 * (x * x + y * y))
    return np.remainder(yaws - _yaw(pose) + np.pi, 2.0 * np.pi) - np.pi


def _yaw(pose: Any) -> float:
    """Return the angle about y, counter-clockwise seen from above, of where the body faces."""
    x, y, z, w = map(float, pose[3:])
    return math.atan2(2.0 * (x * z + w * y), 1.0 - 2.0 * (x * x + y * y))
