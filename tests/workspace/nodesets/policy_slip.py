"""A shared policy that goes ahead, but for one slip: an action, or one bit of what it thinks."""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Think(BaseCanvasNode):
    node_type = "policy_slip__think"
    input_ports = [PortDef("seen", "ARRAY")]
    output_ports = [PortDef("thought", "ARRAY")]
    default_config = {"slip_at": -1, "slip_step": 0}

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        thought = np.sqrt(inputs["seen"] + 2.0)
        if (ctx.episode.index, ctx.step) == (ctx.config["slip_at"], ctx.config["slip_step"]):
            thought[2] = np.nextafter(thought[2], np.inf)
        return {"thought": thought}


class Act(BaseCanvasNode):
    node_type = "policy_slip__act"
    input_ports = [PortDef("thought", "ARRAY")]
    output_ports = [PortDef("action", "ACTION"), PortDef("is_sure", "BOOL")]
    default_config = {"slip_at": -1, "slip_step": 0}

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        slips = (ctx.episode.index, ctx.step) == (ctx.config["slip_at"], ctx.config["slip_step"])
        return {"action": 0 if slips else 1, "is_sure": bool(inputs["thought"][0] < 3.1)}


class PolicySlipNodeSet(BaseNodeSet):
    name = "policy_slip"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Think(), Act()]
