"""A replicated environment: a point drifts on a line; calls take random time, results do not."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, EpisodeController, PortDef


class Look(BaseCanvasNode):
    """Returns what is seen, and counts how often it was looked: the order of calls matters."""

    node_type = "env_drift__look"
    output_ports = [PortDef("seen", "ARRAY"), PortDef("looks", "INT")]

    def __init__(self, nodeset: DriftNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        self.nodeset.wait()
        self.nodeset.looks += 1
        noise = ctx.rng.integers(0, 3, 4)
        return {"seen": self.nodeset.at + noise.astype(np.float64), "looks": self.nodeset.looks}


class Step(BaseCanvasNode):
    """Moves the point; returns how often it was looked before, so that order shows."""

    node_type = "env_drift__step"
    input_ports = [PortDef("action", "ACTION")]
    output_ports = [
        PortDef("at", "INT"),
        PortDef("looks", "INT"),
        PortDef("done", "BOOL"),
        PortDef("pid", "INT", volatile=True),
    ]

    def __init__(self, nodeset: DriftNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        self.nodeset.wait()
        self.nodeset.at += int(inputs["action"])
        done = self.nodeset.at >= self.nodeset.goal
        looks = self.nodeset.looks
        return {"at": self.nodeset.at, "looks": looks, "done": done, "pid": os.getpid()}


class Evaluate(BaseCanvasNode):
    node_type = "env_drift__evaluate"
    output_ports = [PortDef("metrics", "METRICS")]

    def __init__(self, nodeset: DriftNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        overshoot = self.nodeset.at - self.nodeset.goal
        begun = {"undefined": "begun twice"} if self.nodeset.begun != 1 else 1
        return {"metrics": {"success": overshoot == 0, "overshoot": overshoot, "begun": begun}}


class DriftController(EpisodeController):
    nodeset: DriftNodeSet

    def start(self, split: str, index: int) -> dict[str, Any]:
        self.nodeset.goal = 4 + index % 5
        return {"goal": self.nodeset.goal}


class DriftNodeSet(BaseNodeSet):
    name = "env_drift"
    controller = DriftController
    default_config = {
        "count": 12,
        "max_delay_s": 0.0,
        "fail_at": -1,
        "hold": "",  # while this file exists, no copy begins a further episode after so many:
        "hold_after": 12,
    }

    def __init__(self) -> None:
        self.at, self.looks, self.goal, self.begun = 0, 0, -1, 0
        self.episodes = 0
        self.delays = np.random.default_rng()  # of this process: the results must not show it

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Look(self), Step(self), Evaluate(self)]

    def begin_episode(self, episode: Any) -> None:
        self.at, self.looks, self.goal = 0, 0, -1
        self.begun = 1
        if self.config["hold"]:
            self.hold_on()
        if episode.index == self.config["fail_at"]:
            raise ValueError(f"episode {episode.index} is broken")

    def hold_on(self) -> None:
        self.episodes += 1
        while self.episodes > self.config["hold_after"] and Path(self.config["hold"]).exists():
            time.sleep(0.005)

    def wait(self) -> None:
        time.sleep(self.delays.uniform(0, self.config["max_delay_s"]))

    def get_eval_metadata(self) -> dict[str, Any]:
        metrics = ["success", "overshoot", "begun"]
        return {
            "splits": ["test"],
            "default_split": "test",
            "metrics": metrics,
            "step_budget": 40,
        }

    def get_episodes(self, split: str) -> list[Episode]:
        return [Episode(str(i), scene_id=f"line{i % 3}") for i in range(self.config["count"])]
