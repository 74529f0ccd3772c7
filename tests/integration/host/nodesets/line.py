"""A shared nodeset whose tools show how they were called; for tests."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

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


class Gate(BaseCanvasNode):
    """Notes that it runs, and returns once there is the file."""

    node_type = "line__gate"
    input_ports = [PortDef("path", "TEXT")]

    def forward(self, inputs, ctx):
        Path(inputs["path"] + ".begun").touch()
        while not Path(inputs["path"]).exists():
            time.sleep(0.005)
        return {}


class Meet(BaseCanvasNode):
    """Returns once so many calls are under way."""

    node_type = "line__meet"
    input_ports = [PortDef("count", "INT")]

    def __init__(self):
        self.here = 0
        self.are_all_here = asyncio.Event()

    async def forward(self, inputs, ctx):
        self.here += 1
        if self.here == inputs["count"]:
            self.are_all_here.set()
        await self.are_all_here.wait()
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
        return [Scale(), Slow(), Where(), Sleep(), Gate(), Meet(), Big()]

    def shutdown(self):
        print("shutdown", threading.current_thread().name, flush=True)
