"""A policy whose handler takes a given time, whatever the number of its rows."""

from __future__ import annotations

import time
from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Act(BaseCanvasNode):
    """Sleeps for `seconds` and says how many rows it was given at once."""

    node_type = "policy_sleeper__act"
    input_ports = [PortDef("rgb", "IMAGE")]
    output_ports = [PortDef("rows", "INT")]
    batched = True
    batch_dim = "rgb"
    default_config = {"seconds": 0.005}

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        if ctx.config["seconds"]:
            time.sleep(ctx.config["seconds"])
        rows = len(inputs["rgb"])
        return {"rows": [rows] * rows}


class PolicySleeperNodeSet(BaseNodeSet):
    name = "policy_sleeper"
    description = "Stands for a model."
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Act()]
