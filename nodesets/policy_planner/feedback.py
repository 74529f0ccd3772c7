"""Answer an observation by fixed gains, as a linear controller does.

Knows no environment: what the numbers mean stands in the graph's configuration.
"""

from __future__ import annotations

import math
from typing import Any, Mapping

import numpy as np

from nodeset import BaseCanvasNode, PortDef, Settings

MAX_ACTION = 1e9


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
    settings = Settings(config, LinearFeedback.node_type)
    gains = config["gains"]
    low, high = (settings.number(key, -MAX_ACTION, MAX_ACTION) for key in ("low", "high"))
    if not _are_gains(gains, len(seen)):
        rule = f"one row per action with {len(seen)} finite numbers each, as the observation has"
        settings.refuse("gains", rule)
    raw = [math.fsum(gain * value for gain, value in zip(row, seen)) for row in gains]
    return np.array([min(max(value, low), high) for value in raw], np.float32)


def _are_gains(gains: Any, length: int) -> bool:
    if not isinstance(gains, (list, tuple)):
        return False
    return all(
        isinstance(row, (list, tuple)) and len(row) == length and all(map(_is_finite, row))
        for row in gains
    )


def _is_finite(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) < math.inf
