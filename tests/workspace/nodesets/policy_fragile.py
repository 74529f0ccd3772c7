"""A shared policy that dies at times: what it returns never shows it."""

from __future__ import annotations

import os
import random
import signal
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, PortDef


class Act(BaseCanvasNode):
    node_type = "policy_fragile__act"
    input_ports = [PortDef("seen", "ARRAY")]
    output_ports = [PortDef("action", "ACTION")]
    batched = True
    batch_dim = "seen"

    def __init__(self, nodeset: FragilePolicyNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        self.nodeset.suffer()
        coins = [int(row.rng.integers(0, 2)) for row in ctx.rows]
        actions = [int(row.sum()) % 2 + coin for row, coin in zip(inputs["seen"], coins)]
        return {"action": np.asarray(actions, np.int64)}


class FragilePolicyNodeSet(BaseNodeSet):
    """Of its batches `fault_rate` lose their process."""

    name = "policy_fragile"
    parallelism = "shared"
    deployment = Deployment(budgets={"initialize": 60.0, "first_call": 10.0, "call": 3.0})
    default_config = {"fault_rate": 0.0}

    def __init__(self) -> None:
        self.chance = random.Random()  # of this process: the results must not show it

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Act(self)]

    def suffer(self) -> None:
        """Die where it is drawn so."""
        if self.chance.random() < self.config["fault_rate"]:
            os.kill(os.getpid(), self.chance.choice([signal.SIGSEGV, signal.SIGKILL]))
