"""What keeps a copy from becoming ready is told at once and in its own words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

NODESET = """
{head}
from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, Episode, PortDef

class Look(BaseCanvasNode):
    node_type = "early__look"
    output_ports = [PortDef("seen", "INT")]

    def forward(self, inputs, ctx):
        return {{"seen": 1}}

class Early(BaseNodeSet):
    name = "early"
    parallelism = {mode!r}
    default_config = {{"folder": ""}}

    def get_tools(self):
        return [Look()]

    def initialize(self):
        {initialize}

    def get_eval_metadata(self):
        return {{"splits": ["all"], "default_split": "all", "metrics": ["seen"]}}

    def get_episodes(self, split):
        return [Episode(str(index)) for index in range(4)]
"""
GRAPH = {
    "version": 1,
    "nodes": [
        {"id": "look", "type": "early__look"},
        {"id": "seen", "type": "graphOut", "config": {"portName": "seen"}},
    ],
    "edges": [
        {"source": "look", "sourceHandle": "seen", "target": "seen", "targetHandle": "value"}
    ],
}
DIE_ONCE = (
    "import os, pathlib; note = pathlib.Path(self.config['folder'], 'died');"
    " note.exists() or (note.touch(), os.kill(os.getpid(), 9))"
)
Evaluate = Callable[..., Any]


@pytest.fixture
def evaluate(wayfare: Any, workspace: Callable[[str, str], Path], tmp_path: Path) -> Evaluate:
    """Give a function that evaluates a nodeset with that head and that `initialize`."""

    def run(*, head: str = "", initialize: str = "pass", mode: str = "replicated") -> Any:
        text = NODESET.format(head=head, initialize=initialize, mode=mode)
        wayfare.environment["WAYFARE_WORKSPACE"] = str(workspace("early.py", text))
        workspace("look.json", json.dumps(GRAPH))
        setting = f"early.folder={tmp_path}"
        return wayfare.run("eval", "look", "--json", "--workers", "2", "--set", setting)

    return run


@pytest.mark.parametrize(
    ("head", "initialize", "told"),
    [
        ("import libsimulator", "pass", "No module named 'libsimulator'"),
        ("", "import libsimulator", "No module named 'libsimulator'"),
        ("import os; os._exit(3)", "pass", "exit status 3"),
        ("", "import os; os._exit(9)", "exit status 9"),
    ],
)
def test_a_copy_that_ends_before_it_is_ready_is_told_at_once(
    evaluate: Evaluate, head: str, initialize: str, told: str
) -> None:
    answer = evaluate(head=head, initialize=initialize)  # long before the budget, 600 s, is over
    assert answer.status in (2, 3)
    assert told in answer.err


@pytest.mark.parametrize("mode", ["replicated", "shared"])
def test_a_copy_that_is_killed_before_its_first_call_does_not_end_the_run(
    evaluate: Evaluate, mode: str
) -> None:
    answer = evaluate(initialize=DIE_ONCE, mode=mode)
    assert answer.status == 0, answer.err
    assert answer.document["episodes"]["completed"] == 4


def test_a_shared_copy_that_twice_is_killed_before_it_is_ready_ends_the_run(
    evaluate: Evaluate,
) -> None:
    answer = evaluate(
        initialize="import os; os.write(2, b'no room on the device'); os.kill(os.getpid(), 9)",
        mode="shared",
    )
    assert answer.status in (2, 3)
    assert "no room on the device" in answer.err
    assert "start 2 in a row" in answer.err


def test_a_loop_of_deaths_ends_the_run_with_its_first_cause(evaluate: Evaluate) -> None:
    answer = evaluate(initialize="import os; os.kill(os.getpid(), 11)")
    assert answer.status in (2, 3)
    assert "SIGSEGV" in answer.err
    assert "in a row" in answer.err
