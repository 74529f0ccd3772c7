"""A replicated environment whose only cost is the time it is told to take: two calls a turn.

`heavy_last` episodes at the end of the list take `heavy_factor` times as many steps as the others;
`tell_budgets` says whether the list of episodes gives that away.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef


class Observe(BaseCanvasNode):
    node_type = "env_timed__observe"
    output_ports = [PortDef("at", "INT"), PortDef("action", "ACTION")]

    def __init__(self, nodeset: TimedNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"at": self.nodeset.at, "action": 1}


class Step(BaseCanvasNode):
    node_type = "env_timed__step"
    input_ports = [PortDef("action", "ACTION")]
    output_ports = [PortDef("done", "BOOL")]

    def __init__(self, nodeset: TimedNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        nodeset = self.nodeset
        seconds = nodeset.step_seconds()
        if seconds > 0:
            time.sleep(seconds)
        nodeset.at += inputs["action"]
        return {"done": nodeset.at >= nodeset.length}


class Evaluate(BaseCanvasNode):
    node_type = "env_timed__evaluate"
    output_ports = [PortDef("metrics", "METRICS")]

    def __init__(self, nodeset: TimedNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"metrics": {"success": True, "length": self.nodeset.at}}


class TimedNodeSet(BaseNodeSet):
    name = "env_timed"
    default_config = {
        "count": 64,
        "steps": 10,
        "step_seconds": 0.0,
        "sigma": 0.0,
        "heavy_last": 0,
        "heavy_factor": 6,
        "tell_budgets": False,
    }

    def __init__(self) -> None:
        self.at, self.length = 0, 1
        self.times: list[float] = []

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Observe(self), Step(self), Evaluate(self)]

    def begin_episode(self, episode: Any) -> None:
        self.at, self.length = 0, self.count_steps(episode.index)
        self.times = list_step_seconds(self.config, episode.index, self.length)

    def step_seconds(self) -> float:
        return self.times[self.at]

    def count_steps(self, index: int) -> int:
        is_heavy = index >= self.config["count"] - self.config["heavy_last"]
        return int(self.config["steps"]) * (int(self.config["heavy_factor"]) if is_heavy else 1)

    def get_eval_metadata(self) -> dict[str, Any]:
        return {
            "splits": ["test"],
            "default_split": "test",
            "metrics": ["success", "length"],
            "step_budget": 1_000_000,
        }

    def get_episodes(self, split: str) -> list[Episode]:
        tells = self.config["tell_budgets"]
        return [
            Episode(str(i), step_budget=self.count_steps(i) if tells else None)
            for i in range(self.config["count"])
        ]


def list_step_seconds(config: dict[str, Any], index: int, length: int) -> list[float]:
    """Return how long each step of an episode takes: log-normal around `step_seconds`."""
    median, sigma = float(config["step_seconds"]), float(config["sigma"])
    if not median or not sigma:
        return [median] * length
    rng = np.random.default_rng([index, 7])
    return [float(t) for t in median * np.exp(sigma * rng.standard_normal(length))]
