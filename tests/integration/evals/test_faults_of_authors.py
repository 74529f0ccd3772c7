"""What an author's code does wrong ends one episode, with the author's words, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

POISON = ("--set", "nodes.act.fail_at=5", "--set", "nodes.act.fail_step=1")


def test_tool_that_raises_ends_its_episode_alone(wayfare: Any) -> None:
    run = wayfare.evaluate("drift", "--workers", "4", *POISON, status=1)
    assert (run["episodes"]["completed"], run["episodes"]["error"]) == (11, 1)
    assert run["episodes"]["attempts"] == 12
    (failed,) = [r for r in wayfare.show(run["out"])["episodes_table"] if r["outcome"] == "error"]
    error = failed["error"]
    assert (failed["episode_id"], error["node"], error["turns"]) == ("5", "act", [1])
    assert error["type"] == "RuntimeError"
    assert "row of episode 5 is poisoned" in error["message"]
    assert "policy_sum.py" in error["traceback"]
    assert failed["metrics"] == {}


def test_error_has_the_same_digest_at_any_worker_count(wayfare: Any) -> None:
    one = wayfare.evaluate("drift", *POISON, status=1)
    four = wayfare.evaluate("drift", "--workers", "4", *POISON, status=1)
    assert one["digest"] == four["digest"]


def test_begin_episode_that_raises_ends_its_episode_alone(wayfare: Any) -> None:
    run = wayfare.evaluate("drift", "--workers", "2", "--set", "env_drift.fail_at=3", status=1)
    assert (run["episodes"]["completed"], run["episodes"]["error"]) == (11, 1)
    (failed,) = [r for r in wayfare.show(run["out"])["episodes_table"] if r["outcome"] == "error"]
    assert "episode 3 is broken" in failed["error"]["message"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("type", ("policy_sum__act", "'gain'", "str '1'", "an integer")),
        ("port", ("policy_sum__act", "'act'", "action")),
        ("count", ("policy_sum__act", "return one per input")),
    ],
)
def test_wrong_result_names_tool_port_got_and_due(
    wayfare: Any, wrong: str, words: tuple[str, ...]
) -> None:
    run = wayfare.evaluate(
        "drift", "--episodes", "2", "--set", f"nodes.act.wrong={wrong}", status=1
    )
    assert run["episodes"]["error"] == 2
    row = wayfare.show(run["out"])["episodes_table"][0]
    for word in words:
        assert word in row["error"]["message"]


def test_graph_with_five_faults_gets_five_messages(wayfare: Any, tmp_path: Path) -> None:
    graph = tmp_path / "faulty.json"
    graph.write_text(
        """{"version": 1, "environment": "env_drift", "nodes": [
        {"id": "turn", "type": "iterIn", "config": {"ports": []}},
        {"id": "look", "type": "env_drift__lok"},
        {"id": "act", "type": "policy_sum__act", "config": {"gane": 2}},
        {"id": "step", "type": "env_drift__step"},
        {"id": "next", "type": "iterOut", "config": {"loop": "turn", "ports": []}},
        {"id": "metrics", "type": "graphOut", "config": {"portName": "metrics"}}],
        "edges": [
        {"source": "act", "sourceHandle": "gain", "target": "next", "targetHandle": "stop"},
        {"source": "turn", "sourceHandle": "step", "target": "act", "targetHandle": "after"},
        {"source": "nowhere", "sourceHandle": "x", "target": "act", "targetHandle": "total"},
        {"source": "next", "sourceHandle": "final_step",
         "target": "metrics", "targetHandle": "value"}
        ]}"""
    )
    answer = wayfare.run("eval", str(graph))
    assert answer.status == 2
    assert "Traceback" not in answer.err
    for words in ("env_drift__lok", "'gane'", "'nowhere'", "'seen'", "stop"):
        assert words in answer.err, answer.err


def test_nodeset_that_breaks_the_contract_is_refused_by_the_command(
    wayfare: Any, workspace: Callable[[str, str], Path]
) -> None:
    text = (Path(__file__).parents[2] / "workspace/nodesets/memory.py").read_text()
    folder = workspace("memory.py", text.replace('"memory__note"', '"memory__note me"'))
    answer = wayfare.run("eval", "drift_memory", environment={"WAYFARE_WORKSPACE": ""})
    assert answer.status == 2
    answer = wayfare.run("describe", "memory", environment={"WAYFARE_WORKSPACE": str(folder)})
    assert answer.status == 2
    for word in ("memory.py", "Note", "'memory__note me'"):
        assert word in answer.out + answer.err


def test_a_file_that_cannot_start_is_told_in_the_hosts_words_alone(
    wayfare: Any, workspace: Callable[[str, str], Path]
) -> None:
    for name in ("env_drift.py", "policy_sum.py", "memory.py"):
        text = (Path(__file__).parents[2] / f"workspace/nodesets/{name}").read_text()
        folder = workspace(name, text.replace("return [Act()]", "return []"))
    graph = Path(__file__).parents[2] / "workspace/graphs/drift.json"
    answer = wayfare.run("eval", str(graph), environment={"WAYFARE_WORKSPACE": str(folder)})
    assert answer.status == 2
    assert answer.err.startswith("wayfare: nodeset 'policy_sum' (")
    assert answer.err.endswith("returns [] from get_tools(); it must be a list of tools.\n")
    assert len(answer.err.splitlines()) == 1
