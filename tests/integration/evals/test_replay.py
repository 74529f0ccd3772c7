"""A recorded call can be sent to its node again and answers as it did."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

COUNTER = """
from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef

class Count(BaseCanvasNode):
    node_type = "env_count__count"
    output_ports = [PortDef("total", "INT"), PortDef("done", "BOOL")]

    def __init__(self, nodeset):
        self.nodeset = nodeset

    def forward(self, inputs, ctx):
        self.nodeset.total += 1
        return {"total": self.nodeset.total, "done": ctx.step == 4}

class CountNodeSet(BaseNodeSet):
    name = "env_count"

    def get_tools(self):
        return [Count(self)]

    def begin_episode(self, episode):
        self.total = 10

    def get_eval_metadata(self):
        return {"splits": ["s"], "default_split": "s", "metrics": ["total"], "step_budget": 9}

    def get_episodes(self, split):
        return [Episode("a"), Episode("b")]
"""
GRAPH = {
    "version": 1,
    "nodes": [
        {"id": "turn", "type": "iterIn", "config": {"ports": []}},
        {"id": "count", "type": "env_count__count"},
        {"id": "next", "type": "iterOut", "config": {"loop": "turn", "ports": ["total"]}},
        {"id": "total", "type": "graphOut", "config": {"portName": "total"}},
    ],
    "edges": [
        {"source": s, "sourceHandle": sh, "target": t, "targetHandle": th}
        for s, sh, t, th in (
            ("turn", "step", "count", "after"),
            ("count", "total", "next", "total"),
            ("count", "done", "next", "stop"),
            ("next", "final_total", "total", "value"),
        )
    ],
}


def replay(wayfare: Any, run: str, *arguments: str) -> tuple[int, dict[str, Any]]:
    answer = wayfare.run("replay", run, "--json", *arguments)
    assert answer.out, answer.err
    return answer.status, answer.document


@pytest.mark.parametrize("node", ["look", "act", "step", "note"])
def test_every_node_answers_as_it_did(wayfare: Any, node: str) -> None:
    run = wayfare.evaluate("drift_memory", "--record", "full", "--workers", "2")["out"]

    status, document = replay(wayfare, run, "--episode", "7", "--step", "2", "--node", node)

    (call,) = document["calls"]
    assert (status, document["same"], call["turns"]) == (0, True, [2])
    assert call["recorded"] == call["replayed"]
    assert (document["sent_before"] > 0) == (node != "act")


def test_a_nodeset_that_answers_otherwise_is_found_out(
    wayfare: Any, workspace: Callable[[str, str], Path]
) -> None:
    workspace("env_count.py", COUNTER)
    folder = workspace("count.json", json.dumps(GRAPH))
    where = ("--workspace", str(folder))
    run = wayfare.run("eval", "count", "--json", "--record", "full", *where).document["out"]
    workspace("env_count.py", COUNTER.replace("self.total = 10", "self.total = 11"))

    answer = wayfare.run("replay", run, "--episode", "b", "--step", "3", "--node", "count", *where)

    assert answer.status == 1, answer.err
    assert "same      no" in answer.out
    assert "The files of nodeset 'env_count' have changed since the run." in answer.out


def test_a_call_that_failed_fails_again(wayfare: Any) -> None:
    fails = ("--set", "env_camera.fail_at=1")
    run = wayfare.evaluate("camera", "--record", "full", *fails, status=1)["out"]

    status, document = replay(wayfare, run, "--episode", "1", "--step", "1", "--node", "step")

    (call,) = document["calls"]
    assert (status, call["recorded"], call["replayed"]) == (0, None, None)
    assert "the lens is broken" in call["error"]


@pytest.mark.parametrize(
    ("mode", "arguments", "message"),
    [
        ("full", ("--episode", "0", "--node", "lok"), "Did you mean 'look'?"),
        ("full", ("--episode", "0", "--node", "look", "--step", "9"), "its last call was in step"),
        ("full", ("--episode", "12", "--node", "look"), "no finished episode '12'"),
        ("actions", ("--episode", "0", "--node", "look"), "--record full"),
    ],
)
def test_what_was_not_recorded_is_refused_with_a_remedy(
    wayfare: Any, mode: str, arguments: tuple[str, ...], message: str
) -> None:
    run = wayfare.evaluate("drift", "--record", mode, "--episodes", "2")["out"]

    answer = wayfare.run("replay", run, *arguments)

    assert answer.status == 2
    assert message in answer.err
