"""The tools of a Gymnasium environment: reset, step, render, evaluate.

Knows no environment: ports come from its spaces, state lies in the rollout.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from nodeset import BaseCanvasNode, PortDef

from .rollout import Outcome, Rollout
from .space import Leaf, describe_space, passive

INFO_PORT = PortDef("info", "JSON", "what the environment reports beside the observation")


class _EnvironmentTool(BaseCanvasNode):
    category = "environment"

    def __init__(self, rollout: Rollout) -> None:
        self.rollout = rollout


class _ObservingTool(_EnvironmentTool):
    def __init__(self, rollout: Rollout, leaves: Sequence[Leaf]) -> None:
        super().__init__(rollout)
        self.leaves = leaves
        self.output_ports = [*(leaf.port for leaf in leaves), *self.output_ports]

    def observed(self, outcome: Outcome, ctx: Any) -> dict[str, Any]:
        dropped: list[str] = []
        values = {leaf.port.name: leaf.read(outcome.observation) for leaf in self.leaves}
        values["info"] = passive(dict(outcome.info), dropped)
        if dropped:
            ctx.log("info entries that are no JSON and came as null", dropped)
        return values


class Reset(_ObservingTool):
    node_type = "env_gymnasium__reset"
    display_name = "Reset"
    description = "Show the first observation of the episode that has begun."
    output_ports = (INFO_PORT, PortDef("action_space", "JSON", "the actions, described as data"))

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        values = self.observed(self.rollout.start(), ctx)
        return {**values, "action_space": describe_space(self.rollout.env.action_space)}


class Step(_ObservingTool):
    node_type = "env_gymnasium__step"
    display_name = "Step"
    description = "Take one action in the environment."
    input_ports = (PortDef("action", "ACTION"),)
    output_ports = (
        PortDef("reward", "FLOAT"),
        PortDef("terminated", "BOOL", "the environment reached a terminal state"),
        PortDef("truncated", "BOOL", "a limit outside the task, such as time, ended the episode"),
        PortDef("done", "BOOL", "terminated or truncated: there is no further step"),
        INFO_PORT,
    )

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        outcome = self.rollout.step(inputs["action"])
        return {
            **self.observed(outcome, ctx),
            "reward": outcome.reward,
            "terminated": outcome.terminated,
            "truncated": outcome.truncated,
            "done": outcome.done,
        }


class Render(_EnvironmentTool):
    node_type = "env_gymnasium__render"
    display_name = "Render"
    description = "Draw the environment as it stands now."
    output_ports = (PortDef("rgb", "IMAGE"),)

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"rgb": np.array(self.rollout.env.render(), dtype=np.uint8)}


class Evaluate(_EnvironmentTool):
    node_type = "env_gymnasium__evaluate"
    display_name = "Evaluate"
    description = "Score the episode so far: return, length, success. Order it by `after`."
    output_ports = (PortDef("metrics", "METRICS"),)

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"metrics": self.rollout.evaluate()}
