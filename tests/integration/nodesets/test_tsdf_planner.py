"""The planner explores a flat that it has never seen, and no episode sees another's volume."""

from __future__ import annotations

from typing import Any

GRAPH = "flat_explore"


def rows_of(wayfare: Any, *arguments: str) -> dict[str, dict[str, Any]]:
    run = wayfare.evaluate(GRAPH, *arguments)
    return {row["episode_id"]: row for row in wayfare.show(run["out"])["episodes_table"]}


def test_a_flat_is_explored_to_95_percent_from_every_start(wayfare: Any) -> None:
    rows = rows_of(wayfare, "--workers", "2")
    assert {row["outcome"] for row in rows.values()} == {"completed"}
    assert min(row["metrics"]["coverage"] for row in rows.values()) >= 0.95


def test_no_episode_and_no_worker_sees_anothers_volume(wayfare: Any) -> None:
    budget = ("--step-budget", "6")
    alone = rows_of(wayfare, "--episodes", "1:2", *budget)
    after_another = rows_of(wayfare, "--episodes", "0:2", *budget)
    beside_another = rows_of(wayfare, "--workers", "2", "--episodes", "1,0", *budget)
    for rows in (after_another, beside_another):
        assert {row["steps"] for row in rows.values()} == {6}
        assert rows["1"]["digest"] == alone["1"]["digest"]
    assert after_another["0"]["digest"] == beside_another["0"]["digest"]
