"""A shared nodeset whose tools show how they were called; for tests."""

from __future__ import annotations

import asyncio
import threading
import time

import numpy as np

from nodeset import Action, BaseCanvasNode, BaseController, BaseNodeSet, Field, PortDef


class Scale(BaseCanvasNode):
    node_type = "line__scale"
    input_ports = [PortDef("x", "ARRAY")]
    output_ports = [PortDef("y", "ARRAY"), PortDef("size", "INT")]
    batched = True
    batch_dim = "x"
    default_config = {"factor": 2.0}

    def forward(self, inputs, ctx):
        x = inputs["x"]
        if x.min() < 0:
            raise ValueError("a negative row")
        return {"y": x * ctx.config["factor"], "size": np.full(len(x), len(x))}


class Slow(Scale):
    node_type = "line__slow"

    def forward(self, inputs, ctx):
        time.sleep(0.05)
        return super().forward(inputs, ctx)


class Where(BaseCanvasNode):
    node_type = "line__where"
    output_ports = [PortDef("thread", "TEXT"), PortDef("episode", "TEXT")]

    def forward(self, inputs, ctx):
        return {"thread": threading.current_thread().name, "episode": ctx.episode.id}


class Sleep(BaseCanvasNode):
    node_type = "line__sleep"
    input_ports = [PortDef("seconds", "FLOAT")]

    def forward(self, inputs, ctx):
        time.sleep(inputs["seconds"])
        return {}


class Ask(BaseCanvasNode):
    node_type = "line__ask"
    input_ports = [PortDef("seconds", "FLOAT")]

    async def forward(self, inputs, ctx):
        await asyncio.sleep(inputs["seconds"])
        return {}


class Big(BaseCanvasNode):
    node_type = "line__big"
    output_ports = [PortDef("data", "ARRAY")]

    def forward(self, inputs, ctx):
        return {"data": np.zeros(16 * 2**20, np.uint8)}


class Panel(BaseController):
    fields = [Field("split", "select")]
    actions = [Action("play")]
    played = 0

    def on_field_change(self, name, value):
        return {name: value, "thread": threading.current_thread().name}

    def on_action(self, name, params):
        self.played += 1
        return {"played": self.played}


class LineNodeSet(BaseNodeSet):
    name = "line"
    parallelism = "shared"
    controller = Panel
    episode = ""

    def get_tools(self):
        return [Scale(), Slow(), Where(), Sleep(), Ask(), Big()]

    def shutdown(self):
        print("shutdown", threading.current_thread().name, flush=True)
