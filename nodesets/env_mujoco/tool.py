"""The tools of a MuJoCo environment: those of any Gymnasium one, and a camera with depth.

Knows no robot: ports come from its spaces, state lies in the rollout.
"""

from __future__ import annotations

from typing import Any

from nodeset import BaseCanvasNode, PortDef

from ..env_gymnasium import tool
from ..env_gymnasium.rollout import Rollout
from .renderer import look


class Reset(tool.Reset):
    node_type = "env_mujoco__reset"


class Step(tool.Step):
    node_type = "env_mujoco__step"


class Observe(BaseCanvasNode):
    node_type = "env_mujoco__observe"
    display_name = "Observe"
    description = "See the robot as it stands now."
    category = "environment"
    output_ports = (
        PortDef("rgb", "IMAGE"),
        PortDef("depth", "DEPTH", "metres along the camera's axis"),
    )

    def __init__(self, rollout: Rollout) -> None:
        self.rollout = rollout

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        rgb, depth = look(self.rollout.env)
        return {"rgb": rgb, "depth": depth}


class Evaluate(tool.Evaluate):
    node_type = "env_mujoco__evaluate"
