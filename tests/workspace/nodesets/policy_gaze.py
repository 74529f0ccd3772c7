"""A policy whose every move hangs on every pixel of the panorama."""

from __future__ import annotations

from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef
from nodeset.digest import digest_value, hash64


class Choose(BaseCanvasNode):
    """Go to a neighbour, or stop, as a hash of the pictures says."""

    node_type = "policy_gaze__choose"
    batched = True
    batch_dim = "rgb"
    input_ports = [PortDef("rgb", "ARRAY", "(36, H, W, 3)"), PortDef("candidates", "LIST[JSON]")]
    output_ports = [
        PortDef("action", "INT", "a candidate, or -1: stop"),
        PortDef("seen", "TEXT", "the digest of the pictures"),
        PortDef("around", "JSON", "the neighbours' names and views"),
    ]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        rows = list(zip(inputs["rgb"], inputs["candidates"]))
        around = [[[c["viewpoint"], c["view"]] for c in candidates] for _, candidates in rows]
        choices = [hash64(rgb) % (2 * len(candidates) + 1) for rgb, candidates in rows]
        return {
            "action": [n // 2 if n < 2 * len(c) else -1 for n, (_, c) in zip(choices, rows)],
            "seen": [digest_value(rgb).hex() for rgb, _ in rows],
            "around": around,
        }


class GazeNodeSet(BaseNodeSet):
    name = "policy_gaze"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Choose()]
