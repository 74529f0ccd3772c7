"""A hidden counter: the policy counts its calls and acts by the count. Mended: the turn counts."""

from __future__ import annotations

from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Act(BaseCanvasNode):
    node_type = "policy_counter__act"
    input_ports = [PortDef("seen", "ARRAY")]
    output_ports = [PortDef("action", "ACTION")]
    batched = True
    batch_dim = "seen"

    def __init__(self) -> None:
        self.turn = 0

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        actions = []
        for _ in inputs["seen"]:
            actions.append(self.turn % 4)
            self.turn += 1
        return {"action": actions}


class MendedAct(Act):
    node_type = "policy_counter_mended__act"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"action": [row.step % 4 for row in ctx.rows]}


class CounterNodeSet(BaseNodeSet):
    name = "policy_counter"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Act()]


class MendedCounterNodeSet(BaseNodeSet):
    name = "policy_counter_mended"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [MendedAct()]
