"""A copy that has served its episodes is replaced between two of them, and results stay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

NODESET = """
from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, Episode, PortDef
import numpy as np

class Look(BaseCanvasNode):
    node_type = "tired__look"
    output_ports = [PortDef("seen", "INT"), PortDef("image", "ARRAY")]

    def forward(self, inputs, ctx):
        return {{"seen": int(ctx.rng.integers(0, 99)), "image": np.full(99999, ctx.step)}}

class Tired(BaseNodeSet):
    name = "tired"
    parallelism = {mode!r}
    deployment = Deployment(max_episodes={limit})

    def get_tools(self):
        return [Look()]

    def get_eval_metadata(self):
        return {{"splits": ["all"], "default_split": "all", "metrics": ["seen"]}}

    def get_episodes(self, split):
        return [Episode(str(index)) for index in range(6)]
"""
GRAPH = {
    "version": 1,
    "step_budget": 3,
    "nodes": [
        {"id": "turn", "type": "iterIn", "config": {"ports": []}},
        {"id": "look", "type": "tired__look"},
        {"id": "never", "type": "const", "config": {"value": False}},
        {"id": "next", "type": "iterOut", "config": {"loop": "turn", "ports": ["seen"]}},
        {"id": "seen", "type": "graphOut", "config": {"portName": "seen"}},
    ],
    "edges": [
        {"source": "turn", "sourceHandle": "step", "target": "look", "targetHandle": "after"},
        {"source": "look", "sourceHandle": "seen", "target": "next", "targetHandle": "seen"},
        {"source": "never", "sourceHandle": "value", "target": "next", "targetHandle": "stop"},
        {"source": "next", "sourceHandle": "final_seen", "target": "seen", "targetHandle": "value"},
    ],
}


@pytest.mark.parametrize(("mode", "workers"), [("replicated", 1), ("shared", 1), ("shared", 3)])
def test_a_copy_is_recycled_after_its_episodes_and_results_stay(
    wayfare: Any, workspace: Callable[[str, str], Path], mode: str, workers: int
) -> None:
    digests, recycled = [], []
    for limit in (None, 2):
        folder = workspace("tired.py", NODESET.format(mode=mode, limit=limit))
        workspace("look.json", json.dumps(GRAPH))
        wayfare.environment["WAYFARE_WORKSPACE"] = str(folder)
        document = wayfare.evaluate("look", "--workers", str(workers))
        copies = document["nodesets"]["tired"]["copies"]
        digests.append(document["digest"])
        recycled.append(sum(copy["recycled"] for copy in copies))
        assert document["episodes"]["attempts"] == 6
        assert sum(copy["restarts"] for copy in copies) == 0
    assert digests[0] == digests[1]
    assert recycled[0] == 0
    assert 1 <= recycled[1] <= 3
