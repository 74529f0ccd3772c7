"""NumPy's global generator, seeded in each call. Mended: the row's own generator."""

# ruff: noqa: NPY002
from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Act(BaseCanvasNode):
    node_type = "policy_global_seed__act"
    input_ports = [PortDef("seen", "ARRAY")]
    output_ports = [PortDef("action", "ACTION")]
    batched = True
    batch_dim = "seen"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        actions = []
        for row in ctx.rows:
            np.random.seed(row.seed % 2**32)
            actions.append(int(np.random.randint(4)))
        return {"action": actions}


class MendedAct(Act):
    node_type = "policy_global_seed_mended__act"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"action": [int(row.rng.integers(4)) for row in ctx.rows]}


class GlobalSeedNodeSet(BaseNodeSet):
    name = "policy_global_seed"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Act()]


class MendedGlobalSeedNodeSet(BaseNodeSet):
    name = "policy_global_seed_mended"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [MendedAct()]
