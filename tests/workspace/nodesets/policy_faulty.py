"""A shared policy that commits a fault over the row of one step of one episode."""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, PortDef

from .faults import commit_once, is_place_of_fault


class Act(BaseCanvasNode):
    node_type = "policy_faulty__act"
    input_ports = [PortDef("seen", "ARRAY")]
    output_ports = [PortDef("action", "ACTION"), PortDef("rows", "INT", volatile=True)]
    batched = True
    batch_dim = "seen"

    def __init__(self, nodeset: FaultyPolicyNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        config, count = self.nodeset.config, len(ctx.rows)
        for row in ctx.rows:
            if is_place_of_fault(config, row):
                commit_once(config["fault"], config["folder"], config["times"])
        coins = [int(row.rng.integers(0, 9)) for row in ctx.rows]
        actions = [int(row.sum()) % 3 + coin for row, coin in zip(inputs["seen"], coins)]
        return {"action": np.asarray(actions, np.int64), "rows": [count] * count}


class FaultyPolicyNodeSet(BaseNodeSet):
    name = "policy_faulty"
    parallelism = "shared"
    deployment = Deployment(budgets={"initialize": 60, "first_call": 5, "call": 5})
    default_config = {"fault": "", "at_episode": -1, "at_step": 0, "times": 1, "folder": ""}

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Act(self)]
