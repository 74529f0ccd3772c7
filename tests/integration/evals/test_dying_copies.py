"""A copy that dies costs an attempt, also while it starts; one that can't start ends the run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FRAGILE = """
import os, pathlib, signal
from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def fail():
    raise RuntimeError("no licence")

class Look(BaseCanvasNode):
    node_type = "fragile__look"
    output_ports = [PortDef("seen", "INT")]

    def __init__(self, nodeset):
        self.nodeset = nodeset

    def forward(self, inputs, ctx):
        if ctx.episode.index == 1 and self.nodeset.starts == 1:
            die()
        return {"seen": ctx.episode.index}

class Fragile(BaseNodeSet):
    name = "fragile"
    default_config = {"folder": "", "fate": "", "starts": 0}

    def get_tools(self):
        return [Look(self)]

    def initialize(self):
        starts = pathlib.Path(self.config["folder"], "starts")
        starts.open("a").write("x")
        self.starts = len(starts.read_text())
        if 1 < self.starts <= self.config["starts"]:
            {"die": die, "fail": fail}[self.config["fate"]]()

    def get_eval_metadata(self):
        return {"splits": ["all"], "default_split": "all", "metrics": ["seen"]}

    def get_episodes(self, split):
        return [Episode(str(index)) for index in range(3)]
"""
GRAPH = {
    "version": 1,
    "nodes": [
        {"id": "look", "type": "fragile__look"},
        {"id": "seen", "type": "graphOut", "config": {"portName": "seen"}},
    ],
    "edges": [
        {"source": "look", "sourceHandle": "seen", "target": "seen", "targetHandle": "value"}
    ],
}


@pytest.fixture
def evaluate(
    wayfare: Any, workspace: Callable[[str, str], Path], tmp_path: Path
) -> Callable[..., Any]:
    """Give a function that evaluates the fragile nodeset; it dies in its second episode.

    Its second start, and all up to the `starts`th, meet the `fate`.
    """
    folder = workspace("fragile.py", FRAGILE)
    workspace("look.json", json.dumps(GRAPH))
    wayfare.environment["WAYFARE_WORKSPACE"] = str(folder)

    def run(fate: str, *, starts: int) -> Any:
        settings = {"folder": str(tmp_path), "fate": fate, "starts": starts}
        overrides = [("--set", f"fragile.{key}={value}") for key, value in settings.items()]
        return wayfare.run("eval", "look", "--json", *(part for two in overrides for part in two))

    return run


@pytest.mark.parametrize("fate", ["die", "fail"])
def test_a_copy_that_fails_while_it_replaces_a_dead_one_costs_an_attempt(
    evaluate: Callable[..., Any], fate: str
) -> None:
    answer = evaluate(fate, starts=2)
    assert answer.status == 0, answer.err
    counts = answer.document["episodes"]
    assert (counts["completed"], counts["attempts"]) == (3, 5)


def test_copies_killed_at_every_start_end_episodes_but_not_the_run(
    evaluate: Callable[..., Any],
) -> None:
    answer = evaluate("die", starts=4)
    assert answer.status == 1, answer.err
    counts = answer.document["episodes"]
    assert (counts["completed"], counts["error"], counts["attempts"]) == (2, 1, 6)


def test_a_copy_that_twice_cannot_become_ready_ends_the_run_in_its_own_words(
    evaluate: Callable[..., Any],
) -> None:
    answer = evaluate("fail", starts=9)
    assert answer.status == 3, answer.err
    assert "can't go on: nodeset 'fragile'" in answer.err
    assert "no licence" in answer.err
    assert "Traceback (most recent call last)" not in answer.err.split("can't go on")[0]
