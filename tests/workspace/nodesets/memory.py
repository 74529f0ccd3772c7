"""A replicated nodeset that brings no episodes: it remembers what it was told in this episode."""

from __future__ import annotations

from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Note(BaseCanvasNode):
    node_type = "memory__note"
    input_ports = [PortDef("value", "INT")]
    output_ports = [PortDef("total", "INT"), PortDef("begun", "INT", volatile=True)]

    def __init__(self, nodeset: MemoryNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        self.nodeset.total += inputs["value"] * (1 + ctx.step)
        return {"total": self.nodeset.total, "begun": self.nodeset.begun}


class MemoryNodeSet(BaseNodeSet):
    name = "memory"

    def __init__(self) -> None:
        self.total = 0
        self.begun = 0

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Note(self)]

    def begin_episode(self, episode: Any) -> None:
        self.total = 0
        self.begun += 1
