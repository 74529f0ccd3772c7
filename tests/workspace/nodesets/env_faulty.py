"""A replicated environment that counts to ten and commits a fault at one step of one episode."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, Episode, PortDef

from .faults import commit_once, is_place_of_fault, start_daemon


class Look(BaseCanvasNode):
    node_type = "env_faulty__look"
    output_ports = [PortDef("seen", "ARRAY")]

    def __init__(self, nodeset: FaultyNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"seen": np.full(4, self.nodeset.total, np.float64)}


class Step(BaseCanvasNode):
    node_type = "env_faulty__step"
    input_ports = [PortDef("action", "ACTION")]
    output_ports = [PortDef("count", "INT"), PortDef("done", "BOOL")]

    def __init__(self, nodeset: FaultyNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        config, nodeset = self.nodeset.config, self.nodeset
        if is_place_of_fault(config, ctx):
            commit_once(config["fault"], config["folder"], config["times"])
        time.sleep(config["step_s"])
        nodeset.count += 1
        nodeset.total += int(inputs["action"]) + int(ctx.rng.integers(0, 5))
        return {"count": nodeset.count, "done": nodeset.count >= config["steps"]}


class Evaluate(BaseCanvasNode):
    node_type = "env_faulty__evaluate"
    output_ports = [PortDef("metrics", "METRICS")]

    def __init__(self, nodeset: FaultyNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"metrics": {"total": self.nodeset.total, "count": self.nodeset.count}}


class FaultyNodeSet(BaseNodeSet):
    name = "env_faulty"
    deployment = Deployment(
        budgets={"initialize": 60, "first_call": 5, "call": 5},
        memory_limit=400000000,
    )
    default_config = {
        "episodes": 6,
        "steps": 10,
        "fault": "",
        "at_episode": -1,
        "at_step": 0,
        "times": 1,
        "folder": "",
        "leak_bytes": 0,
        "daemon": "",
        "step_s": 0.0,
    }

    def __init__(self) -> None:
        self.count, self.total = 0, 0
        self.leaked: list[bytearray] = []

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Look(self), Step(self), Evaluate(self)]

    def initialize(self) -> None:
        if self.config["daemon"]:
            start_daemon(f"{self.config['daemon']}/{os.getpid()}.daemon")

    def begin_episode(self, episode: Any) -> None:
        self.count, self.total = 0, 0
        if self.config["leak_bytes"]:
            self.leaked.append(bytearray(b"x") * self.config["leak_bytes"])

    def get_eval_metadata(self) -> dict[str, Any]:
        return {"splits": ["test"], "default_split": "test", "metrics": ["total", "count"]}

    def get_episodes(self, split: str) -> list[Episode]:
        return [Episode(str(index)) for index in range(self.config["episodes"])]
