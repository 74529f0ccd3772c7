"""Answer an observation by fixed gains, as a linear controller does.

Knows no environment: what the numbers mean stands in the graph's configuration.
"""

from __future__ import annotations

import math
from typing import Any, Mapping

import numpy as np

from nodeset import BaseCanvasNode, PortDef


class LinearFeedback(BaseCanvasNode):
    """Return gains times observation, each action kept between `low` and `high`."""

    node_type = "policy_planner__linear_feedback"
    display_name = "Linear feedback"
    category = "policy"
    input_ports = [PortDef("observation", "ARRAY", "(D,)")]
    output_ports = [PortDef("action", "ACTION", "(A,) float32")]
    batched = True
    batch_dim = "observation"
    default_config = {"gains": [[]], "low": -1.0, "high": 1.0}

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"action": [respond(row, ctx.config) for row in inputs["observation"]]}


TOOLS = (LinearFeedback,)


def respond(observation: Any, config: Mapping[str, Any]) -> Any:
    """Return one row's action; sums are exact, so a row's bits are its own."""
    seen = [float(value) for value in np.ravel(observation)]
    gains, low, high = config["gains"], float(config["low"]), float(config["high"])
    if any(len(row) != len(seen) for row in gains):
        raise ValueError(
            f"gains is {gains!r}; it must have one row per action with {len(seen)} numbers each, "
            f"as many as the observation has"
        )
    raw = [math.fsum(gain * value for gain, value in zip(row, seen)) for row in gains]
    return np.array([min(max(value, low), high) for value in raw], np.float32)
