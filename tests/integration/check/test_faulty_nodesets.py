"""`wayfare check` names ten common faults and their place, and passes the mended twins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

FAULTY = Path(__file__).resolve().parents[2] / "faulty"
FAULTS: dict[str, tuple[set[str], dict[str, Any]]] = {
    "policy_counter": ({"purity"}, {"port": "action", "state": "Act.turn: 1 -> 2"}),
    "policy_queue": ({"purity"}, {"port": "action", "state": "QueueNodeSet.queue (length)"}),
    "policy_first_row": ({"batch"}, {"port": "length", "meaning": "belongs to another row"}),
    "policy_global_seed": ({"random"}, {"note": "numpy.random"}),
    "policy_default_argument": ({"purity"}, {"port": "total", "state": "default of 'memory'"}),
    "env_in_place": ({"inputs", "rows"}, {"port": "state", "place": "[0].at"}),
    "policy_batch_norm": ({"batch"}, {"port": "scores", "place": "[0]", "cause": "normalisation"}),
    "policy_set_order": ({"process"}, {"port": "words", "cause": "order of a set"}),
    "env_time_of_day": ({"clock"}, {"port": "brightness"}),
    "env_reset_counter": ({"reset"}, {"port": "at", "calls": "begin_episode('0')"}),
}
"""Nodeset -> the properties that fail, and what the example of the first of them says."""


def check(wayfare: Any, nodeset: str, *, status: int) -> dict[str, Any]:
    answer = wayfare.run("check", nodeset, "--json", "--workspace", str(FAULTY))
    assert answer.status == status, answer.out + answer.err
    document: dict[str, Any] = answer.document
    return document


@pytest.mark.parametrize("nodeset", FAULTS)
def test_the_fault_is_named_with_its_place(wayfare: Any, nodeset: str) -> None:
    failing, due = FAULTS[nodeset]

    document = check(wayfare, nodeset, status=1)

    found = {p["name"]: p for p in document["properties"] if p["verdict"] == "fail"}
    assert (document["result"], set(found)) == ("fail", failing)
    example = found[min(failing)]["examples"][0]
    assert example["tool"].startswith(f"{nodeset}__")
    for name, text in due.items():
        assert text in str(example[name]), example
    assert example["port"] == "" or example["a"] != example["b"]


@pytest.mark.parametrize("nodeset", FAULTS)
def test_the_mended_twin_passes(wayfare: Any, nodeset: str) -> None:
    document = check(wayfare, f"{nodeset}_mended", status=0)

    assert document["result"] == "pass"
    assert all(tool["calls"] for tool in document["tools"])


def test_a_counter_example_is_as_small_as_it_can_be(wayfare: Any) -> None:
    answer = wayfare.run("check", "env_reset_counter", "--workspace", str(FAULTY))

    assert answer.status == 1
    lines = [line.strip() for line in answer.out.splitlines()]
    at = lines.index("1. begin_episode('0')")
    assert lines[at + 1] == "2. begin_episode('1')"
    assert lines[at + 2].startswith("3. step(action=")
    assert [lines[at + 3][:3], lines[at + 4][:3]] == ["a: ", "b: "]
