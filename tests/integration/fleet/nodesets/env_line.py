"""A walk on a line of whole numbers: replicated, brings episodes, keeps state in the copy."""

import os
from typing import Any

from nodeset import Action, BaseCanvasNode, BaseController, BaseNodeSet, Episode, Field, PortDef


class Step(BaseCanvasNode):
    node_type = "env_line__step"
    input_ports = [PortDef("move", "INT")]
    output_ports = [PortDef("at", "INT"), PortDef("pid", "INT", volatile=True)]

    def __init__(self, nodeset: "LineNodeSet") -> None:
        self.nodeset = nodeset

    def forward(self, inputs, ctx) -> Any:
        self.nodeset.at += inputs["move"]
        ctx.log("moved", inputs["move"])
        return {"at": self.nodeset.at, "pid": os.getpid()}


class Told(BaseCanvasNode):
    node_type = "env_line__told"
    output_ports = [PortDef("told", "JSON")]

    def __init__(self, nodeset: "LineNodeSet") -> None:
        self.nodeset = nodeset

    def forward(self, inputs, ctx) -> Any:
        return {"told": self.nodeset.told}


class Crash(BaseCanvasNode):
    node_type = "env_line__crash"
    output_ports = [PortDef("never", "INT", optional=True)]

    def forward(self, inputs, ctx) -> Any:
        os.write(2, b"about to end\n")
        os.kill(os.getpid(), 9)
        return {}


class LineController(BaseController):
    nodeset: "LineNodeSet"
    fields = [Field("split", "select"), Field("episode_index", "number")]
    actions = [Action("play")]

    def on_field_change(self, name, value) -> Any:
        self.nodeset.told.append([name, value])
        return {}

    def on_action(self, name, params) -> Any:
        self.nodeset.told.append([name, None])
        return {}

    def get_options(self, field) -> Any:
        return ["all"]


class LineNodeSet(BaseNodeSet):
    name = "env_line"
    parallelism = "replicated"
    controller = LineController

    def __init__(self) -> None:
        self.at = 0
        self.told = []

    def get_tools(self):
        return [Step(self), Told(self), Crash()]

    def begin_episode(self, episode) -> None:
        self.at = 0
        self.told = [["begin", episode.id]]

    def get_eval_metadata(self):
        return {"splits": ["all"], "default_split": "all", "metrics": ["at"], "step_budget": 5}

    def get_episodes(self, split):
        return [Episode(str(i)) for i in range(6)]
