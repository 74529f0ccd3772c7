"""A copy on one thread, as in-process mode drives it, and tools made of functions.

Knows nothing of what the tests ask of them.
"""

from __future__ import annotations

import inspect
import itertools
import time
from typing import Any

import pytest

from nodeset.contract import BaseCanvasNode, BaseNodeSet
from nodeset.host import AutoServerApp
from nodeset.loading import LoadedNodeSet
from nodeset.ports import PortDef
from nodeset.source import Declaration


class Tool(BaseCanvasNode):
    """Returns `function(inputs["x"], ctx)` at its port `y`, and `extra`."""

    function: Any
    extra: dict[str, Any] = {}
    input_ports = [PortDef("x", "INT")]
    output_ports = [PortDef("y", "ANY"), PortDef("time", "INT", "", True, True)]

    def __init__(self, name, function, **attributes):
        vars(self).update(node_type=f"line__{name}", function=function, **attributes)

    def forward(self, inputs, ctx):
        return {"y": self.function(inputs["x"], ctx), **self.extra}


class AsyncTool(Tool):
    async def forward(self, inputs, ctx):
        return {"y": await self.function(inputs["x"], ctx)}


class LineNodeSet(BaseNodeSet):
    name = "line"

    def __init__(self):
        self.seen = []

    def initialize(self):
        self.seen.append("initialize")

    def begin_episode(self, episode):
        self.seen.append(f"begin {episode.id}")

    def shutdown(self):
        self.seen.append("shutdown")


class Copy:
    """One copy and its connections; `ask` submits, serves everything and returns the reply."""

    def __init__(
        self,
        *tools,
        parallelism="shared",
        controller=None,
        is_initialized=True,
        clock=time.monotonic,
    ):
        self.nodeset = LineNodeSet()
        declaration = Declaration.__new__(Declaration)
        vars(declaration).update(name="line", parallelism=parallelism)
        named = {tool.node_type.split("__")[1]: tool for tool in tools}
        loaded = LoadedNodeSet(declaration, self.nodeset, named, controller, None)
        self.app = AutoServerApp(lambda: loaded, name="line", tag="line#0", clock=clock)
        self.ids = itertools.count(1)
        self.replies: dict[int, Any] = {}
        self.caller = self.app.connect()
        if is_initialized:
            self.ask("initialize")

    def submit(self, op, caller=None, **fields):
        request = {"id": next(self.ids), "op": op, **fields}

        def reply(message):
            assert message["id"] not in self.replies
            self.replies[message["id"]] = message

        self.app.submit(caller or self.caller, request, reply)
        return request["id"]

    def ask(self, op, caller=None, **fields):
        request_id = self.submit(op, caller, **fields)
        self.app.run_pending()
        return self.replies[request_id]

    def call(self, tool, x=0, **fields):
        return self.ask("call", tool=tool, inputs={"x": x}, **fields)


@pytest.fixture
def make_tool():
    """Give a function from a name and a plain or `async` function to a tool of nodeset `line`."""

    def make(name, function, **attributes):
        kind = AsyncTool if inspect.iscoroutinefunction(function) else Tool
        return kind(name, function, **attributes)

    return make


@pytest.fixture
def make_copy():
    """Give a function from tools to an initialized copy; copies are stopped afterwards."""
    copies = []

    def make(*tools, **options):
        copies.append(Copy(*tools, **options))
        return copies[-1]

    yield make
    for copy in copies:
        copy.app.stop()
