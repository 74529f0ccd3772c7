"""State that leaks through a default argument. Mended: memory comes in and goes out by ports."""

from __future__ import annotations

from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


def remember(value: float, memory: list[float] = []) -> float:  # noqa: B006  the fault
    memory.append(value)
    return sum(memory)


class Sum(BaseCanvasNode):
    node_type = "policy_default_argument__sum"
    input_ports = [PortDef("seen", "ARRAY")]
    output_ports = [PortDef("total", "FLOAT")]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"total": remember(float(inputs["seen"][0]))}


class MendedSum(BaseCanvasNode):
    node_type = "policy_default_argument_mended__sum"
    input_ports = [PortDef("seen", "ARRAY"), PortDef("total", "FLOAT", optional=True)]
    output_ports = [PortDef("total", "FLOAT")]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"total": inputs.get("total", 0.0) + float(inputs["seen"][0])}


class DefaultArgumentNodeSet(BaseNodeSet):
    name = "policy_default_argument"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Sum()]


class MendedDefaultArgumentNodeSet(BaseNodeSet):
    name = "policy_default_argument_mended"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [MendedSum()]
