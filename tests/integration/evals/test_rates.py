"""A rate does not depend on which episodes end first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

ENVIRONMENT = '''
"""Two of five episodes succeed in their second turn, the others fail in their twelfth."""
from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef

class Step(BaseCanvasNode):
    node_type = "env_race__step"
    input_ports = [PortDef("episode_index", "INT"), PortDef("turn", "INT")]
    output_ports = [PortDef("done", "BOOL"), PortDef("success", "BOOL")]
    batched = True
    batch_dim = "turn"

    def forward(self, inputs, ctx):
        rows = list(zip(inputs["episode_index"], inputs["turn"]))
        wins = [index % 5 < 2 and turn >= 1 for index, turn in rows]
        return {"success": wins, "done": [win or row[1] >= 11 for win, row in zip(wins, rows)]}

class RaceNodeSet(BaseNodeSet):
    name = "env_race"
    parallelism = "shared"

    def get_tools(self):
        return [Step()]

    def get_eval_metadata(self):
        return {"splits": ["test"], "default_split": "test", "metrics": ["success"]}

    def get_episodes(self, split):
        return [Episode(str(index)) for index in range(500)]
'''
GRAPH = {
    "version": 1,
    "nodes": [
        {"id": "episode", "type": "episode"},
        {"id": "turn", "type": "iterIn", "config": {"ports": []}},
        {"id": "step", "type": "env_race__step"},
        {
            "id": "next",
            "type": "iterOut",
            "config": {"loop": "turn", "ports": ["success"]},
        },
        {"id": "success", "type": "graphOut", "config": {"portName": "success"}},
    ],
    "edges": [
        {"source": s, "sourceHandle": sh, "target": t, "targetHandle": th}
        for s, sh, t, th in (
            ("episode", "episode_index", "step", "episode_index"),
            ("turn", "step", "step", "turn"),
            ("step", "success", "next", "success"),
            ("step", "done", "next", "stop"),
            ("next", "final_success", "success", "value"),
        )
    ],
}


def test_early_successes_and_late_failures_count_alike_at_1_and_50_workers(
    wayfare: Any, workspace: Callable[[str, str], Path]
) -> None:
    workspace("env_race.py", ENVIRONMENT)
    folder = str(workspace("race.json", json.dumps(GRAPH)))

    one, fifty = (
        wayfare.evaluate("race", "--workspace", folder, "--workers", count) for count in ("1", "50")
    )

    for run in (one, fifty):
        success = run["metrics"]["success"]
        assert (run["episodes"]["total"], success["n"], success["mean"]) == (500, 500, 0.4)
    assert one["digest"] == fifty["digest"]
    assert one["metrics"] == fifty["metrics"]
