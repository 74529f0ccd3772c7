"""Stands in for a simulator: pictures of noise, drawn from the episode and the actions so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef
from nodeset.context import EpisodeContext

WORDS = ("walk", "past", "the", "sofa", "turn", "left", "stop")


class Reset(BaseCanvasNode):
    node_type = "env_snapshots__reset"
    output_ports = [PortDef("tokens", "ARRAY")]

    def __init__(self, nodeset: SnapshotsNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        words = np.zeros(200, np.int64)
        words[: 5 + self.nodeset.index] = 2 + self.nodeset.index
        return {"tokens": words}


class Observe(BaseCanvasNode):
    node_type = "env_snapshots__observe"
    output_ports = [PortDef("rgb", "IMAGE"), PortDef("depth", "DEPTH")]

    def __init__(self, nodeset: SnapshotsNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        rng = np.random.default_rng([self.nodeset.index, *self.nodeset.actions])
        rgb = rng.integers(0, 256, (224, 224, 3), dtype=np.uint8)
        return {"rgb": rgb, "depth": rng.random((256, 256), dtype=np.float32) * 10}


class Step(BaseCanvasNode):
    node_type = "env_snapshots__step"
    input_ports = [PortDef("action", "INT")]
    output_ports = [PortDef("done", "BOOL")]

    def __init__(self, nodeset: SnapshotsNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        self.nodeset.actions.append(inputs["action"])
        return {"done": len(self.nodeset.actions) >= self.nodeset.config["steps"]}


class Evaluate(BaseCanvasNode):
    node_type = "env_snapshots__evaluate"
    output_ports = [PortDef("metrics", "METRICS")]

    def __init__(self, nodeset: SnapshotsNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        actions = self.nodeset.actions
        return {"metrics": {"length": len(actions), "stops": actions.count(0)}}


class SnapshotsNodeSet(BaseNodeSet):
    name = "env_snapshots"
    default_config = {"episodes": 8, "steps": 3}

    def __init__(self) -> None:
        self.index = 0
        self.actions: list[int] = []

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Reset(self), Observe(self), Step(self), Evaluate(self)]

    def begin_episode(self, episode: EpisodeContext) -> None:
        self.index, self.actions = episode.index, []

    def get_eval_metadata(self) -> dict[str, Any]:
        return {"splits": ["test"], "default_split": "test", "metrics": ["length", "stops"]}

    def get_episodes(self, split: str) -> list[Episode]:
        return [Episode(str(index)) for index in range(self.config["episodes"])]
