"""What the checked code raises is told with its own traceback and an exit status of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

TOOL = """
from nodeset import BaseCanvasNode, BaseNodeSet, PortDef

class Act(BaseCanvasNode):
    node_type = "policy_odd__act"
    input_ports = [PortDef("seen", "INT")]
    output_ports = [PortDef("action", "INT"%(volatile)s)]

    def forward(self, inputs, ctx):
        %(body)s

class OddNodeSet(BaseNodeSet):
    name = "policy_odd"
    parallelism = "shared"

    def get_tools(self):
        return [Act()]

    def initialize(self):
        %(start)s

    def sample_inputs(self, rng):
        return {"act": {"seen": int(rng.integers(9))}}
"""
PLAIN = {"volatile": "", "body": 'return {"action": inputs["seen"]}', "start": "pass"}

Write = Callable[[str, str], Path]


def check(wayfare: Any, workspace: Write, **parts: str) -> Any:
    folder = workspace("policy_odd.py", TOOL % {**PLAIN, **parts})
    return wayfare.run("check", "policy_odd", "--json", "--workspace", str(folder))


def test_a_tool_that_raises_on_the_authors_inputs_is_a_fault(
    wayfare: Any, workspace: Write
) -> None:
    answer = check(wayfare, workspace, body='raise KeyError("weights")')

    assert (answer.status, answer.document["result"]) == (3, "fault")
    assert 'raise KeyError("weights")' in answer.document["fault"]["traceback"]
    assert "src/wayfare" not in answer.err


def test_initialize_that_raises_is_a_fault(wayfare: Any, workspace: Write) -> None:
    answer = check(wayfare, workspace, start='raise OSError("no weights")')

    assert (answer.status, answer.document["result"]) == (3, "fault")
    assert "OSError" in answer.err
    assert "src/wayfare" not in answer.err


def test_a_copy_that_dies_is_a_fault(wayfare: Any, workspace: Write) -> None:
    answer = check(wayfare, workspace, body="import os; os._exit(9)")

    assert (answer.status, answer.document["result"]) == (3, "fault")
    assert "exit status 9" in answer.err


def test_a_value_that_no_port_declares_fails(wayfare: Any, workspace: Write) -> None:
    answer = check(wayfare, workspace, body='return {"action": "left"}')

    assert answer.status == 1
    (ports,) = (p for p in answer.document["properties"] if p["name"] == "ports")
    assert "due an integer" in ports["examples"][0]["note"]


def test_a_nodeset_whose_outputs_are_all_volatile_fails(wayfare: Any, workspace: Write) -> None:
    answer = check(wayfare, workspace, volatile=", volatile=True")

    assert answer.status == 1
    found = {p["name"]: p for p in answer.document["properties"]}
    assert found["volatile"]["verdict"] == "fail"
    assert "policy_odd__act.action" in found["volatile"]["says"]


def test_a_shared_plain_unbatched_tool_gets_a_hint(wayfare: Any, workspace: Write) -> None:
    answer = check(wayfare, workspace)

    assert answer.status == 0
    hints = [p["says"] for p in answer.document["properties"] if p["verdict"] == "hint"]
    assert any("served one by one" in hint for hint in hints)


def test_a_name_that_is_nowhere_is_wrong_usage(wayfare: Any) -> None:
    answer = wayfare.run("check", "nowhere")

    assert (answer.status, answer.out) == (2, "")
    assert "no nodeset 'nowhere'" in answer.err
    assert "There is no graph of that name either" in answer.err
