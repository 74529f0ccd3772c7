"""A worker begins when its own copies are ready; a copy that can't be ends the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

NODESET = '''
"""One copy is ready at once; the others wait for its first step, or fail."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef


class Step(BaseCanvasNode):
    node_type = "env_late__step"
    output_ports = [PortDef("done", "BOOL")]

    def __init__(self, nodeset):
        self.nodeset = nodeset

    def forward(self, inputs, ctx):
        if self.nodeset.config["fails"]:
            threading.Event().wait()
        Path(self.nodeset.config["folder"], "stepped").touch()
        return {"done": True}


class LateNodeSet(BaseNodeSet):
    name = "env_late"
    default_config = {"folder": "", "fails": False, "stops": False}

    def get_tools(self):
        stopped = Path(self.config["folder"], "stopped")
        if self.config["stops"] and not stopped.exists():
            stopped.touch()
            os.kill(os.getpid(), signal.SIGSTOP)
        return [Step(self)]

    def initialize(self):
        folder = Path(self.config["folder"])
        try:
            os.close(os.open(folder / "first", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            self.wait_for_a_step(folder)

    def wait_for_a_step(self, folder):
        if self.config["fails"]:
            raise RuntimeError("no device is left for this copy")
        deadline = time.monotonic() + 200
        while not (folder / "stepped").exists():
            if time.monotonic() > deadline:
                raise TimeoutError("no other worker began before all copies were ready")
            time.sleep(0.01)

    def get_eval_metadata(self):
        return {"splits": ["test"], "default_split": "test", "metrics": ["steps"], "step_budget": 9}

    def get_episodes(self, split):
        return [Episode(str(number)) for number in range(6)]
'''
GRAPH = {
    "version": 1,
    "nodes": [
        {"id": "turn", "type": "iterIn", "config": {"ports": []}},
        {"id": "step", "type": "env_late__step"},
        {"id": "next", "type": "iterOut", "config": {"loop": "turn", "ports": []}},
        {"id": "steps", "type": "graphOut", "config": {"portName": "steps"}},
    ],
    "edges": [
        {"source": "turn", "sourceHandle": "step", "target": "step", "targetHandle": "after"},
        {"source": "step", "sourceHandle": "done", "target": "next", "targetHandle": "stop"},
        {
            "source": "next",
            "sourceHandle": "final_step",
            "target": "steps",
            "targetHandle": "value",
        },
    ],
}


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    (tmp_path / "nodesets").mkdir()
    (tmp_path / "nodesets" / "env_late.py").write_text(NODESET)
    (tmp_path / "late.json").write_text(json.dumps(GRAPH))
    folder = ["--set", f"nodesets.env_late.folder={json.dumps(str(tmp_path))}"]
    return [str(tmp_path / "late.json"), "--workspace", str(tmp_path), "--workers", "3", *folder]


def test_worker_begins_while_other_copies_are_not_ready(wayfare: Any, command: list[str]) -> None:
    run = wayfare.evaluate(*command)
    assert run["episodes"]["completed"] == 6


def test_copy_that_does_not_become_ready_ends_the_run(wayfare: Any, command: list[str]) -> None:
    answer = wayfare.run("eval", *command, "--set", "nodesets.env_late.fails=true")
    assert answer.status in (2, 3)  # before the first episode, or after
    assert "no device is left for this copy" in answer.err


def test_copy_that_is_stopped_before_it_is_ready_is_replaced(
    wayfare: Any, command: list[str]
) -> None:
    run = wayfare.evaluate(*command, "--set", "nodesets.env_late.stops=true")
    assert run["episodes"]["completed"] == 6
