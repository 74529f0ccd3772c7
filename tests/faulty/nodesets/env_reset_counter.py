"""A reset that counts calls: where an episode starts depends on how many came before. Mended."""

from __future__ import annotations

from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef
from nodeset.context import EpisodeContext


class Step(BaseCanvasNode):
    node_type = "env_reset_counter__step"
    input_ports = [PortDef("action", "ACTION")]
    output_ports = [PortDef("at", "INT"), PortDef("done", "BOOL")]

    def __init__(self, nodeset: ResetCounterNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        self.nodeset.at += int(inputs["action"])
        return {"at": self.nodeset.at, "done": self.nodeset.at >= 9}


class MendedStep(Step):
    node_type = "env_reset_counter_mended__step"


class ResetCounterNodeSet(BaseNodeSet):
    name = "env_reset_counter"

    def __init__(self) -> None:
        self.at, self.resets = 0, 0

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Step(self)]

    def begin_episode(self, episode: EpisodeContext) -> None:
        self.at = self.resets % 3
        self.resets += 1

    def get_eval_metadata(self) -> dict[str, Any]:
        return {"splits": ["test"], "default_split": "test", "metrics": [], "step_budget": 20}

    def get_episodes(self, split: str) -> list[Episode]:
        return [Episode(str(index)) for index in range(4)]


class MendedResetCounterNodeSet(ResetCounterNodeSet):
    name = "env_reset_counter_mended"
    parallelism = "replicated"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [MendedStep(self)]

    def begin_episode(self, episode: EpisodeContext) -> None:
        self.at = episode.index % 3
