"""`wayfare compare` names where two runs part, to the step, the node and the bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ACTION_SLIP = ("--set", "nodes.act.slip_at=4", "--set", "nodes.act.slip_step=7")
BIT_SLIP = ("--set", "nodes.think.slip_at=4", "--set", "nodes.think.slip_step=6")


def run(wayfare: Any, *arguments: str, graph: str = "slip") -> str:
    """Evaluate ten episodes and return the run's id."""
    document = wayfare.evaluate(graph, "--episodes", "10", *arguments)
    return str(document["run_id"])


def compare(wayfare: Any, a: str, b: str, *arguments: str, status: int) -> dict[str, Any]:
    answer = wayfare.run("compare", a, b, "--json", *arguments)
    assert answer.status == status, answer.err
    document: dict[str, Any] = json.loads(answer.out, parse_constant=_refuse)
    return document


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no strict JSON")


def test_runs_at_other_worker_counts_are_equal(wayfare: Any) -> None:
    a, b = run(wayfare, "--workers", "1"), run(wayfare, "--workers", "3")

    document = compare(wayfare, a, b, status=0)

    assert (document["equal"], document["same_agent"], document["agent"]) == (True, True, [])
    assert document["episodes"]["equal"] == document["episodes"]["pairs"] == 10
    assert "The digests are equal." in wayfare.run("compare", a, b).out


def test_one_other_action_at_step_7_is_named_with_episode_step_and_node(wayfare: Any) -> None:
    a, b = run(wayfare, "--workers", "2"), run(wayfare, *ACTION_SLIP)

    document = compare(wayfare, a, b, status=1)

    (found,) = document["divergences"]
    assert found == document["first_divergence"]
    assert (found["episode_id"], found["node"], found["turns"]) == ("4", "act", [7])
    (value,) = found["values"]
    assert (value["source"], value["a"], value["b"]) == ("act.action", "1", "0")
    assert [entry["what"] for entry in document["agent"]] == [
        "slip_at of node 'act'",
        "slip_step of node 'act'",
    ]
    turns = document["metrics"]["turns"]
    assert (turns["n"], turns["difference"]) == (10, 0.1)
    text = " ".join(wayfare.run("compare", a, b).out.split())
    assert f"First divergence: episode {found['key']}, turn 7, node 'act': other outputs" in text


def test_one_bit_of_one_float_between_two_nodes_is_named(wayfare: Any) -> None:
    a, b = run(wayfare, "--record", "full"), run(wayfare, "--record", "full", *BIT_SLIP)

    document = compare(wayfare, a, b, status=1)

    (found,) = document["divergences"]
    assert (found["episode_id"], found["node"], found["turns"]) == ("4", "think", [6])
    assert (found["inputs_equal"], found["metrics"]) == (True, [])
    assert (found["firings_different"], found["firings_only_b"]) == (1, 0)
    (value,) = found["values"]
    assert (value["node"], value["source"], value["place"]) == ("act", "think.thought", "[2]")
    assert (value["a"], value["b"]) == ("2.8284271247461903", "2.8284271247461907")


def test_a_bit_is_found_by_its_digest_where_nothing_was_recorded(wayfare: Any) -> None:
    a = run(wayfare, "--record", "none")
    b = run(wayfare, "--record", "none", "--workers", "2", *BIT_SLIP)

    (found,) = compare(wayfare, a, b, status=1)["divergences"]

    assert (found["episode_id"], found["node"], found["turns"]) == ("4", "think", [6])
    assert (found["inputs_equal"], found["values"]) == (None, [])


def test_other_graphs_are_named_and_other_metrics_refused(wayfare: Any) -> None:
    a, b = run(wayfare), run(wayfare, graph="line")

    refused = wayfare.run("compare", a, b)
    document = compare(wayfare, a, b, "--anyway", status=1)

    assert refused.status == 2
    assert "- metric 'sure': ['policy_slip__act.is_sure']" in refused.err
    whats = {(entry["about"], entry["change"], entry["what"]) for entry in document["agent"]}
    assert ("graph", "removed", "node 'think' (policy_slip__think)") in whats
    assert ("graph", "changed", "type of node 'act'") in whats
    assert ("nodeset", "added", "nodeset 'policy_sum'") in whats
    sure = document["metrics"]["sure"]
    assert (sure["n"], sure["left_out"], sure["reasons_b"]) == (0, 10, {"not produced": 10})


def test_other_lists_are_refused_by_name_and_compared_anyway(wayfare: Any) -> None:
    a, b = run(wayfare), run(wayfare, "--episodes", "2:12")

    refused = wayfare.run("compare", a, b)
    document = compare(wayfare, a, b, "--anyway", status=1)

    assert refused.status == 2
    assert "list of episodes: '10 episodes" in refused.err
    assert "--anyway" in refused.err
    counts = document["episodes"]
    assert (counts["pairs"], counts["equal"]) == (8, 8)
    assert [len(counts["only_a"]), len(counts["only_b"])] == [2, 2]


def test_a_failed_episode_is_named_and_stays_out_of_the_metrics(wayfare: Any) -> None:
    fails = ("--set", "nodes.act.fail_at=3", "--set", "nodes.act.fail_step=2")
    a = wayfare.evaluate("line")["run_id"]
    b = wayfare.evaluate("line", *fails, status=1)["run_id"]

    document = compare(wayfare, a, b, status=1)

    (found,) = document["divergences"]
    assert (found["how"], found["node"], found["turns"]) == ("error", "act", [2])
    assert "RuntimeError in node 'act' at turn 2" in found["error_b"]
    at = document["metrics"]["at"]
    assert (at["n"], at["left_out"]) == (11, 1)
    assert at["reasons_b"] == {"episode ended in error": 1}


def test_a_run_that_is_none_is_wrong_usage(wayfare: Any, tmp_path: Path) -> None:
    answer = wayfare.run("compare", "one", "other", "--out", str(tmp_path))

    assert (answer.status, answer.out) == (2, "")
    assert "there is no run 'one'" in answer.err
