"""A shared environment that shows a ring of pictures; the one who looks moves on by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef

EPISODE = PortDef("episode_index", "INT")
TURNS = 3


class Look(BaseCanvasNode):
    """Shows the ring of this turn; `is_odd` in every second turn."""

    node_type = "env_ring__look"
    input_ports = [EPISODE, PortDef("turn", "INT")]
    output_ports = [
        PortDef("views", "LIST[IMAGE]"),
        PortDef("is_odd", "BOOL"),
        PortDef("is_last", "BOOL"),
    ]
    default_config = {"views": 36, "size": 8}
    batched = True
    batch_dim = "turn"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        count, size = ctx.config["views"], ctx.config["size"]
        rings = []
        for place in zip(inputs["episode_index"], inputs["turn"]):
            rng = np.random.default_rng(place)
            rings.append(list(rng.integers(0, 256, (count, size, size, 3), np.uint8)))
        return {
            "views": rings,
            "is_odd": [turn % 2 == 1 for turn in inputs["turn"]],
            "is_last": [turn + 1 >= TURNS for turn in inputs["turn"]],
        }


class RingNodeSet(BaseNodeSet):
    name = "env_ring"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Look()]

    def get_eval_metadata(self) -> dict[str, Any]:
        return {"splits": ["test"], "default_split": "test", "metrics": []}

    def get_episodes(self, split: str) -> list[Episode]:
        return [Episode(str(index)) for index in range(8)]
