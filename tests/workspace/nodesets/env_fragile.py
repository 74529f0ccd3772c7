"""A replicated environment that dies at times: what it returns never shows it."""

from __future__ import annotations

import os
import random
import signal
import time
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, Episode, PortDef


class Look(BaseCanvasNode):
    node_type = "env_fragile__look"
    output_ports = [PortDef("seen", "ARRAY")]

    def __init__(self, nodeset: FragileNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        self.nodeset.suffer(ctx.step)
        noise = ctx.rng.integers(0, 3, 4)
        return {"seen": self.nodeset.at + noise.astype(np.float64)}


class Step(BaseCanvasNode):
    node_type = "env_fragile__step"
    input_ports = [PortDef("action", "ACTION")]
    output_ports = [PortDef("done", "BOOL"), PortDef("pid", "INT", volatile=True)]

    def __init__(self, nodeset: FragileNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        self.nodeset.suffer(ctx.step)
        self.nodeset.at += int(inputs["action"])
        return {"done": self.nodeset.at >= self.nodeset.goal, "pid": os.getpid()}


class Evaluate(BaseCanvasNode):
    node_type = "env_fragile__evaluate"
    output_ports = [PortDef("metrics", "METRICS")]

    def __init__(self, nodeset: FragileNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        overshoot = self.nodeset.at - self.nodeset.goal
        return {"metrics": {"success": overshoot == 0, "overshoot": overshoot}}


class FragileNodeSet(BaseNodeSet):
    """Of its episodes `fault_rate` lose their process; every `raise_every`-th raises, always."""

    name = "env_fragile"
    deployment = Deployment(budgets={"initialize": 60.0, "first_call": 10.0, "call": 3.0})
    default_config = {"count": 12, "max_delay_s": 0.0, "fault_rate": 0.0, "raise_every": 0}

    def __init__(self) -> None:
        self.at, self.goal, self.index, self.fatal_step = 0, 0, -1, -1
        self.chance = random.Random()  # of this process: the results must not show it

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Look(self), Step(self), Evaluate(self)]

    def begin_episode(self, episode: Any) -> None:
        self.at, self.goal, self.index = 0, 4 + episode.index % 5, episode.index
        is_fatal = self.chance.random() < self.config["fault_rate"]
        self.fatal_step = self.chance.randrange(4) if is_fatal else -1

    def suffer(self, step: int) -> None:
        """Take some time, and die where it was drawn so; raise where the episode is a bad one."""
        every = self.config["raise_every"]
        if every and self.index % every == every - 1 and step == 1:
            raise ValueError("episode %d is broken" % self.index)
        if step == self.fatal_step:
            fatal = self.chance.choice([signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT, None])
            if fatal is None:
                os._exit(7)
            os.kill(os.getpid(), fatal)
        if self.config["max_delay_s"]:
            time.sleep(self.chance.uniform(0, self.config["max_delay_s"]))

    def get_eval_metadata(self) -> dict[str, Any]:
        return {
            "splits": ["test"],
            "default_split": "test",
            "metrics": ["success", "overshoot"],
            "step_budget": 40,
        }

    def get_episodes(self, split: str) -> list[Episode]:
        return [Episode(str(i), scene_id="hall%d" % (i % 3)) for i in range(self.config["count"])]
