"""A small valid graph that tests break, and the manifests that it needs."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from wayfare.graph.document import read_graph
from wayfare.graph.fault import Fault
from wayfare.graph.validate import validate, validate_structure


def port(name: str, wire_type: str, **more: bool) -> dict[str, Any]:
    return {"name": name, "wire_type": wire_type, "description": "", **more}


TOOLS = [
    {
        "name": "observe",
        "default_config": {},
        "inputs": [],
        "outputs": [
            port("rgb", "IMAGE"),
            port("pose", "POSE", optional=True),
            port("clock", "FLOAT", volatile=True),
            port("is_lit", "BOOL", volatile=True),
        ],
    },
    {
        "name": "step",
        "default_config": {"noise": 0.0},
        "inputs": [port("action", "ACTION"), port("hint", "TEXT", optional=True)],
        "outputs": [port("reward", "FLOAT"), port("done", "BOOL")],
    },
    {
        "name": "act",
        "default_config": {},
        "inputs": [port("memory", "JSON", optional=True), port("turn", "INT")],
        "outputs": [port("action", "ACTION"), port("memory", "JSON")],
    },
    {
        "name": "stamp",
        "default_config": {},
        "inputs": [port("turn", "INT")],
        "outputs": [port("time", "FLOAT", volatile=True), port("turn", "INT")],
    },
]
MANIFESTS = {
    name: {"name": name, "default_config": {"scale": 1}, "tools": TOOLS}
    for name in ("env", "policy")
}


class Draft:
    """A document under construction: start from one that is valid and break it."""

    manifests = MANIFESTS

    def __init__(self) -> None:
        self.data: dict[str, Any] = {"version": 1, "nodes": [], "edges": []}

    def node(self, name: str, kind: str, **config: Any) -> Draft:
        self.data["nodes"].append({"id": name, "type": kind, "config": config})
        return self

    def edge(self, *texts: str) -> Draft:
        for text in texts:
            ends = [end.split(".") for end in text.split(" -> ")]
            keys = ("source", "sourceHandle", "target", "targetHandle")
            self.data["edges"].append(dict(zip(keys, ends[0] + ends[1], strict=True)))
        return self

    def without_edge(self, text: str) -> Draft:
        other = Draft().edge(text).data["edges"][0]
        self.data["edges"].remove(other)
        return self

    def set(self, **values: Any) -> Draft:
        self.data.update(values)
        return self

    def config(self, name: str, **config: Any) -> Draft:
        next(node for node in self.data["nodes"] if node["id"] == name)["config"] = config
        return self

    def faults(self) -> list[Fault]:
        return validate(read_graph(copy.deepcopy(self.data)), MANIFESTS)

    def structure_faults(self) -> list[Fault]:
        return validate_structure(read_graph(copy.deepcopy(self.data)))

    def only_fault(self) -> str:
        faults = self.faults()
        assert len(faults) == 1, [str(fault) for fault in faults]
        return str(faults[0])


@pytest.fixture
def empty() -> Draft:
    """Give a draft without nodes."""
    return Draft()


@pytest.fixture
def draft() -> Draft:
    """Give a valid agent: a policy and an environment in a loop."""
    return (
        Draft()
        .node("loop", "iterIn", ports=["memory"])
        .node("act", "policy__act")
        .node("step", "env__step")
        .node("end", "iterOut", loop="loop", ports=["memory"])
        .node("length", "graphOut", portName="length")
        .edge(
            "loop.memory -> act.memory",
            "loop.step -> act.turn",
            "act.action -> step.action",
            "act.memory -> end.memory",
            "step.done -> end.stop",
            "end.final_step -> length.value",
        )
    )
