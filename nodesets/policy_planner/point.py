"""Walk straight to a point by turns and steps.

Knows no environment: where the body is and what its actions are called come in as data.
"""

from __future__ import annotations

import math
from typing import Any, Mapping

from nodeset import BaseCanvasNode, PortDef, Settings


class ToPoint(BaseCanvasNode):
    """Turn until the goal lies ahead, then go forward; what stands in the way is not seen."""

    node_type = "policy_planner__to_point"
    display_name = "Go to a point"
    category = "policy"
    input_ports = [
        PortDef("pose", "POSE", "the body's, in Habitat's frame: y up, ahead is -z"),
        PortDef("goal", "ARRAY", "(3,): x y z, metres"),
    ]
    output_ports = [PortDef("action", "INT")]
    batched = True
    batch_dim = "pose"
    default_config = {"turn_deg": 15.0, "left": 0, "right": 1, "forward": 2}

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"action": [choose(*row, ctx.config) for row in zip(inputs["pose"], inputs["goal"])]}


TOOLS = (ToPoint,)


def choose(pose: Any, goal: Any, config: Mapping[str, Any]) -> int:
    """Return the action of one row; a goal less than half a turn off the way counts as ahead."""
    settings = Settings(config, ToPoint.node_type)
    turn_deg = settings.number("turn_deg", 0, 360, is_above=True)
    left, right, forward = (settings.whole(key) for key in ("left", "right", "forward"))
    off = _wrap(_bearing(pose, goal) - _yaw(pose))
    if abs(off) <= math.radians(turn_deg) / 2:
        return forward
    return left if off > 0.0 else right


def _bearing(pose: Any, goal: Any) -> float:
    return math.atan2(float(pose[0] - goal[0]), float(pose[2] - goal[2]))


def _yaw(pose: Any) -> float:
    """Return the angle about y, counter-clockwise seen from above, of where the body faces."""
    x, y, z, w = map(float, pose[3:])
    return math.atan2(2.0 * (x * z + w * y), 1.0 - 2.0 * (x * x + y * y))


def _wrap(angle: float) -> float:
    return math.remainder(angle, 2.0 * math.pi)
