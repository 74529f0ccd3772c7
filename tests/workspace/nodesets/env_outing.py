"""A shared environment with poses: two of five episodes succeed early, the others fail late."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef
from nodeset.metrics import undefined

EARLY, LATE = 2, 12
_INDEX = PortDef("episode_index", "INT")
_POSE = PortDef("pose", "POSE")


class Start(BaseCanvasNode):
    node_type = "env_outing__start"
    input_ports = [_INDEX]
    output_ports = [PortDef("at", "INT"), _POSE]
    batched = True
    batch_dim = "episode_index"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        count = len(inputs["episode_index"])
        return {"at": [0] * count, "pose": np.stack([pose_at(0)] * count)}


class Step(BaseCanvasNode):
    """Go on; every third step only waits."""

    node_type = "env_outing__step"
    input_ports = [_INDEX, PortDef("at", "INT"), PortDef("turn", "INT")]
    output_ports = [PortDef("at", "INT"), _POSE, PortDef("done", "BOOL")]
    batched = True
    batch_dim = "episode_index"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        rows = list(zip(inputs["episode_index"], inputs["at"], inputs["turn"]))
        places = [at + (turn % 3 != 2) for _, at, turn in rows]
        return {
            "at": places,
            "pose": np.stack([pose_at(at) for at in places]),
            "done": [turn + 1 >= (EARLY if is_early(index) else LATE) for index, _, turn in rows],
        }


class Score(BaseCanvasNode):
    """Say who succeeded; the SPL of episode 7 is not a number, a test split has no goals."""

    node_type = "env_outing__score"
    input_ports = [_INDEX, PortDef("at", "INT")]
    output_ports = [PortDef("metrics", "METRICS")]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        index = inputs["episode_index"]
        if ctx.episode.split == "test":
            hidden = undefined("the split publishes no goals")
            return {"metrics": {"success": hidden, "spl": hidden, "length": inputs["at"]}}
        spl = math.nan if index == 7 else float(is_early(index))
        return {"metrics": {"success": is_early(index), "spl": spl, "length": inputs["at"]}}


class OutingNodeSet(BaseNodeSet):
    name = "env_outing"
    parallelism = "shared"
    default_config = {"count": 10, "format": "vln_ce"}

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Start(), Step(), Score()]

    def get_eval_metadata(self) -> dict[str, Any]:
        return {
            "splits": ["val", "test"],
            "default_split": "val",
            "metrics": ["success", "spl", "length"],
            "metric_definitions": {"spl": {"distance": "geodesic on the line", "threshold_m": 3.0}},
            "step_budget": 20,
            "submission": {"format": self.config["format"], "poses": ["start.pose", "step.pose"]},
        }

    def get_episodes(self, split: str) -> list[Episode]:
        return [
            Episode(
                str(index),
                scene_id=f"path {index % 7}",
                group=f"g{index // 3}",
                info={"instruction_id": 1000 - index, "weather": "rain" if index % 2 else "sun"},
            )
            for index in range(self.config["count"])
        ]


def is_early(index: int) -> bool:
    return index % 5 < 2


def pose_at(at: int) -> np.ndarray:
    return np.array([float(at), 0.0, -float(at), 0.0, 0.0, 0.0, 1.0])
