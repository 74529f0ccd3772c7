"""A secret of the environment stands in nothing that a run keeps or a command prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SECRET = "sk-never-write-this-down"
LEAKY = """
import os
import sys

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef


class Tell(BaseCanvasNode):
    node_type = "env_leaky__tell"
    output_ports = [PortDef("score", "INT")]

    def forward(self, inputs, ctx):
        secret = os.environ["LEAKY_API_KEY"]
        print("asking with", secret, flush=True)
        if ctx.episode.id == "dies":
            os.abort()
        raise PermissionError(f"401 for {secret!r}")


class LeakyNodeSet(BaseNodeSet):
    name = "env_leaky"
    default_config = {"key": "", "fails": ""}

    def get_tools(self):
        if self.config["fails"]:
            raise ValueError(f"no {os.environ['LEAKY_API_KEY']}")
        return [Tell()]

    def get_eval_metadata(self):
        return {"splits": ["test"], "default_split": "test", "metrics": ["score"]}

    def get_episodes(self, split):
        return [Episode("raises"), Episode("dies")]
"""
GRAPH = {
    "version": 1,
    "nodes": [
        {"id": "tell", "type": "env_leaky__tell"},
        {"id": "score", "type": "graphOut", "config": {"portName": "score"}},
    ],
    "edges": [
        {"source": "tell", "sourceHandle": "score", "target": "score", "targetHandle": "value"}
    ],
}


@pytest.fixture
def leaky(wayfare: Any, workspace: Any) -> Any:
    """Give the command in whose environment there is a secret, and a nodeset that tells it."""
    workspace("env_leaky.py", LEAKY)
    folder = workspace("leaky.json", json.dumps(GRAPH))
    wayfare.environment["WAYFARE_WORKSPACE"] = str(folder)
    wayfare.environment["LEAKY_API_KEY"] = SECRET
    return wayfare


def files_with_secret(folder: Path) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if SECRET.encode() in path.read_bytes()]


def test_no_error_of_a_run_tells_a_secret_whatever_raised_it(leaky: Any) -> None:
    answer = leaky.run("eval", "leaky", "--json", "--record", "full", "--retries", "1")
    assert answer.status == 1, answer.err
    table = leaky.show(answer.document["out"])["episodes_table"]
    errors = {row["episode_id"]: row["error"] for row in table}
    assert "401 for '<LEAKY_API_KEY>'" in errors["raises"]["message"]
    assert "asking with <LEAKY_API_KEY>" in errors["dies"]["log_tail"]
    shown = leaky.run("show", answer.document["out"])
    assert SECRET not in answer.out + answer.err + shown.out + shown.err
    assert files_with_secret(leaky.folder / "runs") == []


def test_a_refusal_before_the_run_tells_no_secret(leaky: Any) -> None:
    answer = leaky.run("eval", "leaky", "--set", "env_leaky.fails=yes")
    assert answer.status == 2
    assert "no <LEAKY_API_KEY>" in answer.err
    assert SECRET not in answer.out + answer.err


def test_a_graph_that_holds_a_secret_does_not_run(leaky: Any) -> None:
    answer = leaky.run("eval", "leaky", "--set", f"env_leaky.key=Bearer {SECRET}")
    assert answer.status == 2
    assert "nodesets.env_leaky.config.key holds the value of the environment variable" in answer.err
    assert SECRET not in answer.out + answer.err
    assert not (leaky.folder / "runs").exists()
