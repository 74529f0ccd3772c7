"""Agents whose scores are published, over every instruction of val_unseen, without the framework.

Published: Anderson et al., CVPR 2018, and four runs of the simulator's own random agent.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nodesets.env_r2r.navigation import GraphStore
from nodesets.env_r2r.state import State, start_state, step_in_panorama, step_in_view
from nodesets.env_r2r.view import initial_view
from nodesets.env_r2r.world import World
from nodesets.policy_planner.r2r import MAX_TURNS, choose_candidate, next_on_way, wander

from nodeset.metrics import score_navigation, trajectory_length

EPISODES = 2349
ACTIONS = 30
Scores = dict[str, np.ndarray]
DataFile = Callable[[str], Path]


@pytest.fixture(scope="module")
def world(data_file: DataFile) -> World:
    data_file("connectivity/scans.txt")
    return World(str(data_file("r2r/R2R_val_unseen.json").parent.parent))


def evaluate(world: World, walk: Callable[..., State]) -> Scores:
    scores = []
    for task in world.dataset.tasks("val_unseen"):
        views = world.views(task.scan)
        final = walk(views, start_state(task.path[0], initial_view(task.heading)), task)
        scores.append(score_navigation(final.trajectory, task.goal, views.graph.distance_m))
    return {name: np.array([score[name] for score in scores], float) for name in scores[0]}


def walk_to_goal(views: Any, state: State, task: Any) -> State:
    while not state.stopped:
        here = views.graph.index(state.viewpoint)
        candidates = [candidate.as_json() for candidate in views.candidates(here)]
        wanted = next_on_way(views.graph, state.viewpoint, task.goal)
        state = step_in_panorama(views, state, choose_candidate(candidates, wanted))
    return state


def walk_at_random(views: Any, state: State, task: Any, *, rng: np.random.Generator) -> State:
    memory = {"turns_left": int(rng.integers(0, MAX_TURNS + 1)), "moves": 0}
    for _ in range(ACTIONS):
        if state.stopped:
            break
        seen = views.navigable(views.graph.index(state.viewpoint), state.view_index)
        action, memory = wander(seen, memory)
        state = step_in_view(views, state, action)
    return state


def test_the_oracle_gets_full_marks_on_every_instruction(world: World) -> None:
    scores = evaluate(world, walk_to_goal)
    assert len(scores["SR"]) == EPISODES
    assert scores["SR"].all()
    assert scores["OSR"].all()
    assert scores["NE"].max() == 0.0
    np.testing.assert_allclose(scores["SPL"], 1.0, rtol=1e-12)
    assert scores["TL"].mean() == pytest.approx(9.48, abs=0.005)


def test_the_random_agent_agrees_with_the_simulators_own(world: World) -> None:
    runs = []
    for seed in range(4):
        scores = evaluate(world, partial(walk_at_random, rng=np.random.default_rng(seed)))
        runs.append([scores[name].mean() for name in ("TL", "NE", "SR", "OSR")])
    mean = np.mean(runs, axis=0)
    # The simulator's four runs span these; the mean of four of ours has half a run's deviation.
    assert 9.75 < mean[0] < 9.89
    assert 9.03 < mean[1] < 9.42
    assert 0.152 < mean[2] < 0.171
    assert 0.203 < mean[3] < 0.225


def test_the_reference_path_is_longer_than_the_shortest_on_8_of_783_paths(
    world: World, data_file: DataFile
) -> None:
    items = json.loads(data_file("r2r/R2R_val_unseen.json").read_text())
    longer = 0
    for item in items:
        distance_m = world.views(item["scan"]).graph.distance_m
        walked = trajectory_length(item["path"], distance_m)
        assert isinstance(walked, float)
        longer += walked > distance_m(item["path"][0], item["path"][-1]) + 1e-6
    assert (longer, len(items)) == (8, 783)


def test_5_of_957_viewpoints_are_excluded_and_stay_so(data_file: DataFile) -> None:
    folder = data_file("connectivity/scans.txt").parent
    store = GraphStore(folder)
    graphs = [store.graph(scan) for scan in (folder / "scans.txt").read_text().split()]
    assert sum(len(graph.viewpoints) for graph in graphs) == 957
    excluded = [
        (graph, index) for graph in graphs for index, on in enumerate(graph.included) if not on
    ]
    assert len(excluded) == 5
    for graph, index in excluded:
        assert graph.adjacent(index) == ()
        assert all(index not in graph.adjacent(other) for other in range(len(graph.viewpoints)))
