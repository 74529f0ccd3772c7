"""A shared environment: pure functions of (episode_index, state, action)."""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import Action, BaseCanvasNode, BaseController, BaseNodeSet, Episode, Field, PortDef


class Observe(BaseCanvasNode):
    node_type = "env_line__observe"
    input_ports = [PortDef("episode_index", "INT"), PortDef("state", "JSON", optional=True)]
    output_ports = [PortDef("state", "JSON"), PortDef("seen", "ARRAY"), PortDef("looks", "INT")]
    batched = True
    batch_dim = "episode_index"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        count = len(inputs["episode_index"])
        states = inputs.get("state", [{"at": 0, "turn": 0}] * count)
        seen = np.stack([np.full(4, state["at"], np.float64) for state in states])
        return {"state": states, "seen": seen, "looks": [state["turn"] for state in states]}


class Step(BaseCanvasNode):
    node_type = "env_line__step"
    input_ports = [
        PortDef("episode_index", "INT"),
        PortDef("state", "JSON"),
        PortDef("action", "ACTION"),
    ]
    output_ports = [PortDef("state", "JSON"), PortDef("at", "INT"), PortDef("done", "BOOL")]
    batched = True
    batch_dim = "action"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        rows = zip(inputs["episode_index"], inputs["state"], inputs["action"])
        states, places, ends = [], [], []
        for index, state, action in rows:
            at = state["at"] + int(action)
            states.append({"at": at, "turn": state["turn"] + 1})
            places.append(at)
            ends.append(at >= 4 + index % 5)
        return {"state": states, "at": places, "done": ends}


class LineController(BaseController):
    fields = [Field("split", "select"), Field("episode_index", "number")]
    actions = [Action("play")]

    def __init__(self) -> None:
        self.told = 0

    def on_field_change(self, name: str, value: Any) -> dict[str, Any]:
        self.told += 1
        return {"told": self.told}

    def on_action(self, name: str, params: Any) -> dict[str, Any]:
        self.told += 1
        return {"told": self.told}


class LineNodeSet(BaseNodeSet):
    name = "env_line"
    parallelism = "shared"
    controller = LineController
    default_config = {"count": 12}

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Observe(), Step()]

    def get_eval_metadata(self) -> dict[str, Any]:
        return {"splits": ["test"], "default_split": "test", "metrics": ["at"], "step_budget": 40}

    def get_episodes(self, split: str) -> list[Episode]:
        return [Episode(str(i)) for i in range(self.config["count"])]
