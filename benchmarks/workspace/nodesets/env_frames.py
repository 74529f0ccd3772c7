"""A replicated environment whose step takes a fixed time and returns a 640x480 picture."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef

HEIGHT, WIDTH = 480, 640


class Step(BaseCanvasNode):
    node_type = "env_frames__step"
    output_ports = [PortDef("rgb", "IMAGE"), PortDef("done", "BOOL")]

    def __init__(self, nodeset: FramesNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        nodeset = self.nodeset
        time.sleep(nodeset.config["step_seconds"])
        nodeset.at += 1
        nodeset.rgb[0, 0, 0] = nodeset.at % 256
        return {"rgb": nodeset.rgb, "done": nodeset.at >= nodeset.config["steps"]}


class FramesNodeSet(BaseNodeSet):
    name = "env_frames"
    default_config = {"count": 16, "steps": 50, "step_seconds": 0.002}

    def __init__(self) -> None:
        self.at = 0
        self.rgb = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Step(self)]

    def begin_episode(self, episode: Any) -> None:
        self.at = 0

    def get_eval_metadata(self) -> dict[str, Any]:
        return {
            "splits": ["test"],
            "default_split": "test",
            "metrics": ["steps"],
            "step_budget": 1_000_000,
        }

    def get_episodes(self, split: str) -> list[Episode]:
        return [Episode(str(i)) for i in range(self.config["count"])]
