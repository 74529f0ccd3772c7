"""Nodesets of several interpreters in one fleet."""

import asyncio
import os

import pytest
from tests.deadline import HANG_SECONDS

from nodeset.context import EpisodeContext
from wayfare.fleet.errors import InterpreterError
from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.fleet.pool import EnvWorkerPool
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.calls import ToolCall
from wayfare.graph.document import read_graph

NODESET = """
import sys
from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, PortDef

class Version(BaseCanvasNode):
    node_type = "{name}__version"
    output_ports = [PortDef("version", "LIST[INT]")]

    def forward(self, inputs, ctx):
        return {{"version": list(sys.version_info[:2])}}

class VersionNodeSet(BaseNodeSet):
    name = "{name}"
    deployment = Deployment(python={python!r})

    def get_tools(self):
        return [Version()]
"""


async def test_nodesets_under_three_pythons_answer_in_one_graph(tmp_path, foreign_python):
    pythons = {
        "old": str(foreign_python("3.8")),
        "own": None,
        "new": str(foreign_python("3.13")),
    }
    (tmp_path / "nodesets").mkdir()
    for name, python in pythons.items():
        text = NODESET.format(name=name, python=python)
        (tmp_path / "nodesets" / f"{name}.py").write_text(text)
    nodes = [{"id": name, "type": f"{name}__version"} for name in pythons]
    graph = read_graph({"version": 1, "nodes": nodes})
    registry = WorkspaceComponentRegistry([tmp_path])
    async with (
        asyncio.timeout(HANG_SECONDS),
        LocalLauncher(LocalSettings.from_environment(os.environ)) as launcher,
        await registry.ensure_nodesets_for_graph(graph, 1, launcher) as fleet,
    ):
        await fleet.initialize_all()
        async with EnvWorkerPool(fleet) as pool:
            worker = pool.workers[0]
            await worker.open_episode(EpisodeContext(index=0, id="0"))
            calls = [ToolCall(name, name, "version", {}, {}, 0, (), 0) for name in pythons]
            answers = await asyncio.gather(*(worker.invoke(call) for call in calls))
    own = list(__import__("sys").version_info[:2])
    assert [answer["version"] for answer in answers] == [[3, 8], own, [3, 13]]


async def test_an_interpreter_without_numpy_is_refused_before_anything_starts(tmp_path):
    (tmp_path / "nodesets").mkdir()
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho \'{"version": "3.8.1", "missing": ["numpy"]}\'\n')
    python.chmod(0o755)
    text = NODESET.format(name="bare", python=str(python))
    (tmp_path / "nodesets" / "bare.py").write_text(text)
    graph = read_graph({"version": 1, "nodes": [{"id": "n", "type": "bare__version"}]})
    registry = WorkspaceComponentRegistry([tmp_path])
    async with LocalLauncher(LocalSettings.from_environment(os.environ)) as launcher:
        with pytest.raises(InterpreterError, match=r"lacks 'numpy'.*-m pip install numpy"):
            await registry.ensure_nodesets_for_graph(graph, 4, launcher)
