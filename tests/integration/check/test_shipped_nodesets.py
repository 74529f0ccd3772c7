"""`wayfare check` passes the shipped nodesets, and takes its inputs from where it is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def check(wayfare: Any, *arguments: str) -> dict[str, Any]:
    answer = wayfare.run("check", *arguments, "--json")
    assert answer.status == 0, answer.out + answer.err
    document: dict[str, Any] = answer.document
    return document


@pytest.mark.parametrize("nodeset", ["env_r2r", "policy_planner"])
def test_a_shipped_nodeset_passes_with_all_its_tools(
    wayfare: Any, nodeset: str, data_folder: Path
) -> None:
    wayfare.environment["WAYFARE_DATA"] = str(data_folder)

    document = check(wayfare, nodeset)

    assert [tool["name"] for tool in document["tools"] if not tool["calls"]] == []
    assert {tool["claim"] for tool in document["tools"]} == {"bit-stable"}


def test_env_gymnasium_passes_with_all_its_tools(wayfare: Any) -> None:
    document = check(wayfare, "env_gymnasium", "--set", "env_gymnasium.id=CartPole-v1")

    assert [tool["name"] for tool in document["tools"] if not tool["calls"]] == []
    assert document["config"]["id"] == "CartPole-v1"
    assert document["inputs"][0] == "graph cartpole_random"


def test_inputs_come_from_a_recorded_run(wayfare: Any) -> None:
    run = wayfare.evaluate("drift_memory", "--record", "full", "--episodes", "3")

    document = check(wayfare, "env_drift", "--from-run", run["run_id"])

    assert document["inputs"][0] == f"run {run['run_id']}"
    (pid,) = (tool["volatile"] for tool in document["tools"] if tool["name"] == "step")
    assert pid == ["pid"]
