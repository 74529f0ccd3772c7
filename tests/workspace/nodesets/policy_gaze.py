"""Policies whose every move hangs on every pixel that they see."""

from __future__ import annotations

from typing import Any

import numpy as np

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


class Wander(BaseCanvasNode):
    """Go to one of the poses, or stop, as a hash of what is seen from where says."""

    node_type = "policy_gaze__wander"
    batched = True
    batch_dim = "rgb"
    input_ports = [
        PortDef("poses", "ANY", "an array (N, 7), which may differ from row to row"),
        PortDef("pose", "POSE", "where it looks from"),
        PortDef("rgb", "IMAGE"),
        PortDef("depth", "DEPTH"),
    ]
    output_ports = [PortDef("pose", "POSE"), PortDef("done", "BOOL")]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        looks = zip(inputs["pose"], inputs["rgb"], inputs["depth"])
        hashes = [hash64(pose, rgb, depth) for pose, rgb, depth in looks]
        chosen = [np.array(poses[n % len(poses)]) for poses, n in zip(inputs["poses"], hashes)]
        return {"pose": chosen, "done": [n % 31 == 0 for n in hashes]}


class GazeNodeSet(BaseNodeSet):
    name = "policy_gaze"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Choose(), Wander()]
