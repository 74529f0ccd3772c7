"""A program evaluates by the same function as the command, and looks at the run as an object."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS

import wayfare
from wayfare.evals.errors import SetupError
from wayfare.evals.table import MissingExtraError
from wayfare.fleet.errors import FleetSetupError
from wayfare.store.errors import StoreError

WORKSPACE = Path(__file__).resolve().parents[1] / "workspace"


def evaluate(graph, tmp_path, **options):
    options = {"episodes": 4, "workspaces": [WORKSPACE], "out": tmp_path, **options}
    return wayfare.evaluate(graph, **options)


def drifting_agent(**options):
    """Build what the workspace's graph `drift` is."""
    graph = wayfare.Graph("drift", environment="env_drift", **options)
    with graph.loop("turn", end="next") as turn:
        look = graph.add("env_drift__look", after=turn.step)
        act = graph.add("policy_sum__act", seen=look.seen)
        step = graph.add("env_drift__step", action=act.action)
        turn.stop(step.done)
    graph.output("metrics", graph.add("env_drift__evaluate", after=turn.final_step).metrics)
    return graph


def test_a_built_graph_runs_as_the_file_does(tmp_path):
    built = evaluate(drifting_agent(), tmp_path, workers=3)
    by_name = evaluate("drift", tmp_path)
    by_path = evaluate(WORKSPACE / "graphs" / "drift.json", tmp_path)
    as_json = evaluate(by_path.graph.to_json(), tmp_path)

    assert built.digest == by_name.digest == by_path.digest == as_json.digest
    assert built.header.graph_hash == by_name.header.graph_hash
    assert (built.id, built.header.graph_name) == (built.folder.name, "drift")


def test_a_program_and_the_command_make_the_same_run(tmp_path):
    run = evaluate("drift", tmp_path, episodes=range(2, 6), repeats=2, seed=3, step_budget=5)
    command = [sys.executable, "-m", "wayfare", "eval", "drift", "--episodes", "2:6"]
    command += ["--repeats", "2", "--seed", "3", "--step-budget", "5", "--workers", "2"]
    command += ["--workspace", str(WORKSPACE), "--out", str(tmp_path)]
    subprocess.run(command, check=True, timeout=HANG_SECONDS, capture_output=True)

    (other,) = (folder for folder in tmp_path.iterdir() if folder.name != run.id)
    assert wayfare.Run.open(other.name, tmp_path).digest == run.digest


def test_a_run_says_what_it_came_to(tmp_path):
    run = evaluate("drift", tmp_path, overrides={"env_drift.count": 6}, episodes="")

    assert (run.status, len(run.episodes)) == ("done", 6)
    assert run.header.overrides == {"env_drift.count": "6"}
    assert all(summary.n == 6 for summary in run.metrics.values())
    assert [row.outcome for row in run.episodes[1:3]] == ["completed", "completed"]
    assert wayfare.Run.open(run.id, tmp_path) == run == wayfare.Run.open(run.folder)
    assert repr(run) == f"<Run {run.id}: done, 6 of 6 episodes>"


def test_a_run_is_summed_up_apart(tmp_path):
    run = evaluate("outing", tmp_path, overrides={"env_outing.count": 6}, episodes="")

    assert {label: part.episodes.total for label, part in run.by("weather").items()} == {
        "rain": 3,
        "sun": 3,
    }
    assert run.by("repeat")["0"].metrics["success"].mean == 0.5
    assert run.summary.coverage.certified


def test_a_trajectory_is_what_fired(tmp_path):
    run = evaluate("drift", tmp_path, repeats=2, episodes=[3])
    row = run.episodes[0]

    firings = run.trajectory(row)
    assert firings == run.trajectory(row.key)
    assert {"look", "act", "step", "evaluate"} == {firing.path for firing in firings}
    assert len([f for f in firings if f.path == "step"]) == row.steps
    with pytest.raises(StoreError, match="2 episodes with the id"):
        run.trajectory(row.episode_id)
    with pytest.raises(StoreError, match="no finished episode 'nobody'"):
        run.trajectory("nobody")


@pytest.mark.parametrize("library", ["arrow", "pandas"])
def test_a_missing_library_is_named_with_what_brings_it(tmp_path, monkeypatch, library):
    name = {"arrow": "pyarrow", "pandas": "pandas"}[library]
    monkeypatch.setitem(sys.modules, name, None)
    episodes = evaluate("drift", tmp_path, episodes=1).episodes
    with pytest.raises(
        MissingExtraError, match=rf"{name} is not installed.*pip install 'wayfare\["
    ):
        getattr(episodes, f"to_{library}")()


async def test_where_a_loop_runs_it_is_awaited(tmp_path):
    with pytest.raises(RuntimeError, match="use `await evaluate_async"):
        wayfare.evaluate("drift")
    options = {"workspaces": [WORKSPACE], "out": tmp_path, "episodes": 2}
    both = [wayfare.evaluate_async("drift", workers=n, **options) for n in (1, 2)]
    first, second = await asyncio.wait_for(asyncio.gather(*both), HANG_SECONDS)
    assert (first.digest, first.id == second.id) == (second.digest, False)


def test_nodesets_can_run_in_the_programs_process(tmp_path):
    inside = wayfare.Surroundings(in_process=True)
    run = evaluate("drift", tmp_path, surroundings=inside)
    assert run.digest == evaluate("drift", tmp_path, workers=2).digest
    assert {copy.pid for n in run.summary.nodesets.values() for copy in n.copies} == {os.getpid()}


def test_a_builder_that_knows_the_manifests_refuses_at_once():
    manifests = wayfare.read_manifests(["env_drift", "policy_sum"], workspaces=[WORKSPACE])
    drifting_agent(manifests=manifests).validate()

    graph = wayfare.Graph(manifests=manifests)
    with pytest.raises(wayfare.GraphError, match=r"Did you mean 'env_drift__look'"):
        graph.add("env_drift__lok")


@pytest.mark.parametrize(
    ("graph", "options", "error", "message"),
    [
        ("drift", {"workers": 0}, SetupError, "a run needs at least one"),
        ("drift", {"episodes": []}, SetupError, "selects nothing"),
        ("drift", {"overrides": "a.b=1"}, TypeError, "give a list of texts or a dict"),
        ("drift", {"overrides": ["act.k=1"]}, wayfare.GraphError, "no nodeset 'act'"),
        ("nothing", {}, FleetSetupError, "no graph 'nothing'"),
        (Path("nothing.json"), {}, wayfare.GraphError, "cannot be read"),
        ({"nodes": []}, {}, wayfare.GraphError, "version"),
    ],
)
def test_what_can_not_run_is_said_before_anything_starts(tmp_path, graph, options, error, message):
    with pytest.raises(error, match=message):
        evaluate(graph, tmp_path, **options)
    assert list(tmp_path.iterdir()) == []
