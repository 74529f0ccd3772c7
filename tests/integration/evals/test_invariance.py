"""The number of workers changes the time and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from wayfare.fleet.admission import LEAST

GRAPHS = ("drift", "line", "drift_memory")
"""A replicated environment; a shared one; a replicated one, a second replicated nodeset and a
shared batched policy."""
SLOW = ("--set", "env_drift.max_delay_s=0.004")


@pytest.mark.parametrize("graph", GRAPHS)
def test_digest_is_the_same_at_any_worker_count_and_order(wayfare: Any, graph: str) -> None:
    digests = {
        workers: wayfare.evaluate(graph, "--workers", str(workers))["digest"]
        for workers in (1, 2, 4, 8)
    }
    backwards = ",".join(str(index) for index in reversed(range(12)))
    digests["backwards"] = wayfare.evaluate(graph, "--workers", "3", "--episodes", backwards)[
        "digest"
    ]
    digests["in process"] = wayfare.evaluate(graph, "--in-process")["digest"]
    assert len(set(digests.values())) == 1, digests


def test_workers_that_wait_for_their_turn_change_nothing(wayfare: Any) -> None:
    settings = ("--set", "env_drift.count=300", "--set", "env_drift.max_delay_s=0")
    digests = {
        workers: wayfare.evaluate("drift", "--workers", str(workers), *settings)["digest"]
        for workers in (2, LEAST + 6)
    }
    assert len(set(digests.values())) == 1, digests


def test_seed_and_repeats_make_other_episodes(wayfare: Any) -> None:
    run = wayfare.evaluate("drift", "--workers", "2", "--repeats", "2", "--episodes", "4")
    table = wayfare.show(run["out"])["episodes_table"]
    assert len({row["key"] for row in table}) == len({row["digest"] for row in table}) == 8
    other = wayfare.evaluate("drift", "--workers", "2", "--episodes", "4", "--seed", "1")
    assert other["digest"] != run["digest"]


def test_order_of_two_unconnected_tools_of_one_copy_is_the_graphs(wayfare: Any) -> None:
    digests = {
        wayfare.evaluate("drift_unordered", "--workers", "4", "--episodes", "4", *SLOW)["digest"]
        for _ in range(5)
    }
    assert len(digests) == 1


def test_replicated_nodesets_get_a_copy_per_worker_and_shared_ones_one(wayfare: Any) -> None:
    run = wayfare.evaluate("drift_memory", "--workers", "4", "--set", "env_drift.count=60")
    nodesets = run["nodesets"]
    for name in ("env_drift", "memory"):
        copies = nodesets[name]["copies"]
        assert [copy["tag"] for copy in copies] == [f"{name}#{index}" for index in range(4)]
        assert [copy["workers"] for copy in copies] == [[0], [1], [2], [3]]
        assert sum(copy["preflights"] for copy in copies) == 60
    (shared,) = nodesets["policy_sum"]["copies"]
    assert (shared["tag"], shared["workers"], shared["preflights"]) == (
        "policy_sum",
        [0, 1, 2, 3],
        0,
    )
    pids = [copy["pid"] for nodeset in nodesets.values() for copy in nodeset["copies"]]
    assert len(set(pids)) == 9
    assert nodesets["policy_sum"]["mean_batch"] > 1


def test_one_worker_never_waits_for_a_batch(wayfare: Any) -> None:
    run = wayfare.evaluate("line")
    for nodeset in run["nodesets"].values():
        assert set(nodeset["flushes"]) == {"all_waiting"}
        assert [copy["tag"] for copy in nodeset["copies"]] == [nodeset["copies"][0]["tag"]]
        assert "#" not in nodeset["copies"][0]["tag"]
