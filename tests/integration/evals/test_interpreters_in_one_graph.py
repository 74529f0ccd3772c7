"""One graph whose nodesets run under three Pythons."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

NODESET = """
import sys

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, PortDef


class Act(BaseCanvasNode):
    node_type = "{name}__act"
    input_ports = [PortDef("seen", "ARRAY"), PortDef("total", "INT", optional=True)]
    output_ports = [PortDef("{port}", "{wire_type}"), PortDef("python", "LIST[INT]")]

    def forward(self, inputs, ctx):
        value = int(inputs["seen"].sum()) % 3 + int(ctx.rng.integers(0, 2))
        return {{"{port}": value, "python": list(sys.version_info[:2])}}


class Act{name}(BaseNodeSet):
    name = "{name}"
    parallelism = "shared"
    deployment = Deployment(python="{python}")

    def get_tools(self):
        return [Act()]
"""
GRAPH = (Path(__file__).parents[2] / "workspace" / "graphs" / "drift.json").read_text()


def test_nodesets_under_38_311_and_313_work_in_one_graph(
    wayfare: Any, workspace: Callable[[str, str], Path], foreign_python: Callable[[str], Path]
) -> None:
    pythons = [foreign_python("3.8").parent, foreign_python("3.13").parent]
    for name, python, port, wire_type in (
        ("old", "3.8", "total", "INT"),
        ("new", "3.13", "action", "ACTION"),
    ):
        text = NODESET.format(name=name, python=python, port=port, wire_type=wire_type)
        workspace(f"{name}.py", text)
    graph = GRAPH.replace("policy_sum__act", "new__act").replace(
        '{"id": "step"', '{"id": "add", "type": "old__act"},\n{"id": "step"'
    )
    wiring = (
        '"edges": [\n{"source": "%s", "sourceHandle": "%s", "target": "%s", "targetHandle": "%s"},'
    )
    for edge in (("look", "seen", "add", "seen"), ("add", "total", "act", "total")):
        graph = graph.replace('"edges": [', wiring % edge)
    folder = workspace("pythons.json", graph)
    wayfare.environment["WAYFARE_PYTHONS"] = os.pathsep.join(map(str, pythons))
    extra = ("--workspace", str(folder), "--episodes", "6")
    digests = []
    for workers in ("1", "3"):
        run = wayfare.evaluate("pythons", "--workers", workers, *extra)
        digests.append(run["digest"])
        assert run["episodes"]["completed"] == 6
    assert digests[0] == digests[1]
    document = wayfare.run("nodesets", "--json", "--workspace", str(folder)).document
    versions = {entry["name"]: entry["python"] for entry in document["nodesets"]}
    assert versions["old"].startswith("3.8.")
    assert versions["new"].startswith("3.13.")


def test_missing_interpreter_is_named_with_its_remedy(
    wayfare: Any, workspace: Callable[[str, str], Path]
) -> None:
    text = NODESET.format(name="odd", python="3.99", port="action", wire_type="ACTION")
    folder = workspace("odd.py", text)
    answer = wayfare.run("describe", "odd", "--workspace", str(folder))
    assert answer.status == 2
    for words in ("3.99", "WAYFARE_PYTHONS"):
        assert words in answer.out + answer.err
