"""`wayfare check GRAPH` runs the same episodes in several ways and names the first difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SHIPPED = Path(__file__).resolve().parents[3]
OFFLINE = ("cartpole_random", "minigrid_planner")
R2R = ("r2r_oracle", "r2r_panorama", "r2r_random", "r2r_reference", "r2r_route", "r2r_stop")


def check(wayfare: Any, graph: str, *arguments: str, status: int = 0) -> dict[str, Any]:
    answer = wayfare.run("check", graph, "--json", *arguments)
    assert answer.status == status, answer.out + answer.err
    document: dict[str, Any] = answer.document
    return document


@pytest.mark.parametrize("graph", OFFLINE)
def test_a_shipped_graph_does_not_feel_its_workers(wayfare: Any, graph: str) -> None:
    document = check(wayfare, graph, "--workers", "1,2,8", "--episodes", "4")

    assert len({variant["digest"] for variant in document["variants"]}) == 1
    launchers = [(v["worker_count"], v["launcher"]) for v in document["variants"]]
    assert launchers[2:] == [(2, "local"), (8, "local"), (1, "in-process")]


@pytest.mark.parametrize("graph", R2R)
def test_a_shipped_r2r_graph_does_not_feel_its_workers(
    wayfare: Any, graph: str, data_folder: Path
) -> None:
    wayfare.environment["WAYFARE_DATA"] = str(data_folder)

    document = check(wayfare, graph, "--workers", "1,2,8", "--episodes", "6")

    assert len({variant["digest"] for variant in document["variants"]}) == 1


def test_a_fault_is_named_by_episode_step_and_node_with_both_values(
    wayfare: Any, workspace: Any
) -> None:
    faulty = SHIPPED / "tests" / "faulty"
    text = (SHIPPED / "tests" / "workspace" / "graphs" / "drift.json").read_text()
    folder = workspace("counting.json", text.replace("policy_sum__act", "policy_counter__act"))
    others = ("--workspace", str(folder), "--workspace", str(faulty))

    document = check(wayfare, "counting", *others, "--workers", "1,2", status=1)

    failing = [p for p in document["properties"] if p["verdict"] == "fail"]
    assert {p["name"] for p in failing} >= {"order", "2 workers"}
    example = failing[0]["examples"][0]
    assert example["calls"][0].startswith("episode '")
    assert ", step " in example["calls"][0]
    assert "node '" in example["calls"][0]
    assert example["a"] != example["b"]


def test_calls_that_position_alone_orders_get_a_hint(wayfare: Any) -> None:
    document = check(wayfare, "drift_unordered", "--workers", "1", "--episodes", "2")

    hints = [p["says"] for p in document["properties"] if p["verdict"] == "hint"]
    assert any("only their places in `nodes`" in hint for hint in hints)


def test_counts_that_are_none_are_wrong_usage(wayfare: Any) -> None:
    answer = wayfare.run("check", "drift", "--workers", "1,none")

    assert answer.status == 2
    assert "must be counts from 1" in answer.err
