"""Answers at once: with three scalars, or with an RGB-D observation."""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef

SCALARS = (("a", "INT"), ("b", "FLOAT"), ("c", "BOOL"))


class Scalars(BaseCanvasNode):
    """Returns the three scalars that it gets."""

    node_type = "echo__scalars"
    input_ports = [PortDef(name, wire_type) for name, wire_type in SCALARS]
    output_ports = [PortDef(name, wire_type) for name, wire_type in SCALARS]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return inputs


class Rgbd(BaseCanvasNode):
    """Returns an image and its depths, 2.15 MB."""

    node_type = "echo__rgbd"
    input_ports = [PortDef("a", "INT")]
    output_ports = [PortDef("rgb", "IMAGE"), PortDef("depth", "DEPTH")]

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.rgb = rng.integers(0, 255, (480, 640, 3), np.uint8)
        self.depth = rng.random((480, 640), np.float32)

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"rgb": self.rgb, "depth": self.depth}


class EchoNodeSet(BaseNodeSet):
    """The least that a call can cost."""

    name = "echo"
    description = "Answers at once."

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Scalars(), Rgbd()]
