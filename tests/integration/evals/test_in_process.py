"""`--in-process`: author code can be interrupted, and what would end its process ends the copy."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.deadline import HANG_SECONDS, wait_until

ROUGH = """
import ctypes, os, time
from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef

class Look(BaseCanvasNode):
    node_type = "rough__look"
    output_ports = [PortDef("seen", "INT")]
    default_config = {"fate": ""}

    def forward(self, inputs, ctx):
        print("to stdout")
        os.write(1, b"to the descriptor")
        if ctx.episode.index == 1:
            FATES[ctx.config["fate"]]()
        return {"seen": ctx.episode.index}

def raise_base():
    raise BaseException("the end")

def raise_exit():
    raise GeneratorExit

def block():
    open("blocked", "w").close()
    time.sleep(3600)

FATES = {"": lambda: None, "base": raise_base, "generator": raise_exit, "block": block}

class Rough(BaseNodeSet):
    name = "rough"

    def get_tools(self):
        return [Look()]

    def get_eval_metadata(self):
        return {"splits": ["all"], "default_split": "all", "metrics": ["seen"]}

    def get_episodes(self, split):
        return [Episode(str(index)) for index in range(3)]
"""
GRAPH = {
    "version": 1,
    "nodes": [
        {"id": "look", "type": "rough__look"},
        {"id": "seen", "type": "graphOut", "config": {"portName": "seen"}},
    ],
    "edges": [
        {"source": "look", "sourceHandle": "seen", "target": "seen", "targetHandle": "value"}
    ],
}


@pytest.fixture
def rough(wayfare: Any, workspace: Callable[[str, str], Path], monkeypatch: Any) -> Any:
    """Give the command, with a nodeset that meets its `fate` in its second episode."""
    folder = workspace("rough.py", ROUGH)
    workspace("look.json", json.dumps(GRAPH))
    wayfare.environment["WAYFARE_WORKSPACE"] = str(folder)
    monkeypatch.chdir(wayfare.folder)
    return wayfare


def test_what_author_code_prints_leaves_the_document_alone(rough: Any) -> None:
    answer = rough.run("eval", "look", "--in-process", "--json")
    assert answer.status == 0, answer.err
    assert answer.document["episodes"]["completed"] == 3
    assert "to stdout" in answer.err
    assert "to the descriptor" in answer.err


@pytest.mark.parametrize("fate", ["base", "generator"])
def test_an_exception_that_ends_a_process_costs_the_same_attempts_in_process(
    rough: Any, fate: str
) -> None:
    given = ("look", "--set", f"nodes.look.fate={fate}")
    inside = rough.evaluate(*given, "--in-process", status=1)
    outside = rough.evaluate(*given, status=1)
    assert inside["episodes"] == outside["episodes"]
    assert inside["episodes"]["attempts"] == 5
    assert inside["digest"] == outside["digest"]


@pytest.mark.parametrize(
    ("drain_seconds", "asks_again"),
    [("3600", True), ("0.5", False)],
    ids=["second signal", "time is over"],
)
def test_author_code_that_blocks_is_broken_into(
    rough: Any, drain_seconds: str, asks_again: bool
) -> None:
    options = ("--in-process", "--json", "--drain-seconds", drain_seconds)
    process = rough.start("eval", "look", "--set", "nodes.look.fate=block", *options)
    wait_until(lambda: (rough.folder / "blocked").exists() or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    if asks_again:  # and again: another thread than the one that blocks may get the first of them
        wait_until(partial(ask_again, process))
    out, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 75, err
    assert json.loads(out)["episodes"]["completed"] == 1
    assert "Traceback" not in err


def ask_again(process: subprocess.Popen[str]) -> bool:
    """Ask that a process ends; return whether it has."""
    process.send_signal(signal.SIGTERM)
    return process.poll() is not None
