"""Row 0's instruction for all rows. Mended: each row's own."""

from __future__ import annotations

from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Read(BaseCanvasNode):
    node_type = "policy_first_row__read"
    input_ports = [PortDef("instruction", "TEXT")]
    output_ports = [PortDef("length", "INT")]
    batched = True
    batch_dim = "instruction"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"length": [len(inputs["instruction"][0])] * len(ctx.rows)}


class MendedRead(Read):
    node_type = "policy_first_row_mended__read"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"length": [len(instruction) for instruction in inputs["instruction"]]}


class FirstRowNodeSet(BaseNodeSet):
    name = "policy_first_row"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Read()]


class MendedFirstRowNodeSet(BaseNodeSet):
    name = "policy_first_row_mended"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [MendedRead()]
