"""A shared policy: adds up what it sees and tosses a coin of the row's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Act(BaseCanvasNode):
    node_type = "policy_sum__act"
    input_ports = [PortDef("seen", "ARRAY"), PortDef("total", "INT", optional=True)]
    output_ports = [PortDef("action", "ACTION"), PortDef("gain", "INT")]
    batched = True
    batch_dim = "seen"
    default_config = {"gain": 1, "fail_at": -1, "fail_step": 0, "wrong": ""}

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        seen = inputs["seen"]
        assert seen.shape == (len(ctx.rows), 4)
        totals = inputs.get("total", [0] * len(seen))
        for row in ctx.rows:
            if (row.episode.index, row.step) == (ctx.config["fail_at"], ctx.config["fail_step"]):
                raise RuntimeError(f"row of episode {row.episode.index} is poisoned")
        coins = [int(row.rng.integers(0, 2)) for row in ctx.rows]
        gain = ctx.config["gain"]
        actions = [
            gain * (int(row.sum() + total) % 2 + coin)
            for row, total, coin in zip(seen, totals, coins)
        ]
        if ctx.config["wrong"] == "count":
            actions = actions[:-1]
        if ctx.config["wrong"] == "port":
            return {"act": actions, "gain": [gain] * len(seen)}
        gains: Any = [str(gain) if ctx.config["wrong"] == "type" else gain for _ in seen]
        return {"action": np.asarray(actions, np.int64), "gain": gains}


class PolicySumNodeSet(BaseNodeSet):
    name = "policy_sum"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Act()]
