"""What the environment's tools answer, in batches, on a house of six viewpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nodesets.env_r2r.state import ActionError
from tests.unit.nodesets.r2r_world import call, write_features, write_world

from nodeset import UnavailableError
from nodeset.loading import LoadedNodeSet, load_nodeset

LEVEL = 12


@pytest.fixture
def env(tmp_path: Path, repo_root: Path) -> LoadedNodeSet:
    write_features(write_world(tmp_path) / "features.npz")
    config = {"data_dir": str(tmp_path), "features": "features.npz"}
    return load_nodeset(str(repo_root / "nodesets" / "env_r2r"), config=config)


def reset(env: LoadedNodeSet, *indices: int) -> list[dict[str, Any]]:
    states: list[dict[str, Any]] = call(env.tools["reset"], episode_index=list(indices))["state"]
    return states


def act(env: LoadedNodeSet, state: dict[str, Any], *actions: Any) -> dict[str, Any]:
    tool = "step" if isinstance(actions[0], (list, tuple, np.ndarray)) else "step_panorama"
    for action in actions:
        answer = call(env.tools[tool], episode_index=[0], state=[state], action=[action])
        state = answer["state"][0]
    return state


def test_the_environment_is_shared_and_every_tool_is_batched(env: LoadedNodeSet) -> None:
    assert env.parallelism == "shared"
    assert all(tool.batched for tool in env.tools.values())


def test_reset_looks_level_along_the_given_heading(env: LoadedNodeSet) -> None:
    first, other = reset(env, 0, 2)
    assert first == {"viewpoint": "a", "view_index": 12, "trajectory": ["a"], "stopped": False}
    assert other["view_index"] == LEVEL + 6


def test_moving_adds_to_the_trajectory_and_turning_does_not(env: LoadedNodeSet) -> None:
    state = act(env, reset(env, 0)[0], [1, 0, 0], [0, 1, 0], [0, 0, 1])
    assert state["trajectory"] == ["a", "b"]
    assert state["view_index"] == 24 + 1


def test_an_action_may_be_an_array(env: LoadedNodeSet) -> None:
    assert act(env, reset(env, 0)[0], np.array([1.0, 0.0, 0.0]))["viewpoint"] == "b"


def test_stopping_is_done_and_final(env: LoadedNodeSet) -> None:
    row: dict[str, Any] = {"episode_index": [0], "state": reset(env, 0)}
    answer = call(env.tools["step"], **row, action=[[0, 0, 0]])
    assert answer["done"] == [True]
    with pytest.raises(ActionError, match="has stopped"):
        act(env, answer["state"][0], -1)


@pytest.mark.parametrize("action", [[2, 0, 0], [-1, 0, 0], [0.5, 0, 0], [1, 0], 1, "go"])
def test_an_action_that_the_view_does_not_allow_is_refused(env: LoadedNodeSet, action: Any) -> None:
    with pytest.raises(ActionError, match="action"):
        call(env.tools["step"], episode_index=[0], state=reset(env, 0), action=[action])


def test_going_to_a_candidate_looks_its_way(env: LoadedNodeSet) -> None:
    state = act(env, reset(env, 0)[0], 0, 1)
    assert (state["viewpoint"], state["view_index"]) == ("c", LEVEL + 3)
    with pytest.raises(ActionError, match="2 candidates"):
        act(env, state, 2)


def test_a_row_alone_answers_as_in_a_batch(env: LoadedNodeSet) -> None:
    states = [reset(env, 0)[0], act(env, reset(env, 0)[0], 0), act(env, reset(env, 0)[0], 0, 1)]
    rows: dict[str, Any] = {"episode_index": [0, 2, 4], "state": states}
    for name in ("observe", "observe_panorama", "evaluate", "evaluate_path"):
        together = call(env.tools[name], **rows)
        for row in range(3):
            one: dict[str, Any] = {port: [values[row]] for port, values in rows.items()}
            alone = call(env.tools[name], **one)
            assert all(np.array_equal(alone[key][0], together[key][row]) for key in alone)


def test_features_are_looked_up_by_viewpoint_and_view(env: LoadedNodeSet) -> None:
    row: dict[str, Any] = {"episode_index": [0], "state": [act(env, reset(env, 0)[0], [1, 0, 0])]}
    assert call(env.tools["observe"], **row)["features"][0].tolist() == [200.0 + LEVEL]
    assert call(env.tools["observe_panorama"], **row)["features"][0].shape == (36, 1)


def test_without_a_store_there_is_no_features_port(tmp_path: Path, repo_root: Path) -> None:
    config = {"data_dir": str(write_world(tmp_path))}
    env = load_nodeset(str(repo_root / "nodesets" / "env_r2r"), config=config)
    row: dict[str, Any] = {"episode_index": [0], "state": reset(env, 0)}
    assert "features" not in call(env.tools["observe"], **row)


def test_a_split_without_goals_has_a_length_and_no_score(env: LoadedNodeSet) -> None:
    row: dict[str, Any] = {"episode_index": [0], "split": ["test"]}
    assert "goal" not in call(env.tools["task"], **row)
    state = call(env.tools["reset"], **row)["state"]
    (metrics,) = call(env.tools["evaluate"], **row, state=state)["metrics"]
    assert metrics["TL"] == 0.0
    assert metrics["SR"] == {"undefined": "the split publishes no goals"}
    (scores,) = call(env.tools["evaluate_path"], **row, state=state)["metrics"]
    assert {name: scores[name] for name in metrics} == metrics
    assert scores["SoftSPL"] == metrics["SR"]
    assert scores["nDTW"] == {"undefined": "the split publishes no reference path"}


def test_an_episode_or_state_that_does_not_exist_is_refused(env: LoadedNodeSet) -> None:
    with pytest.raises(IndexError, match="episodes 0 to 4"):
        reset(env, 5)
    broken = {"viewpoint": "a", "view_index": 36, "trajectory": ["a"], "stopped": False}
    for state in ({}, broken, {**broken, "view_index": 1, "trajectory": ["b"]}):
        with pytest.raises(ValueError, match="none of this environment's"):
            call(env.tools["observe"], episode_index=[0], state=[state])


def test_samples_are_inputs_of_every_tool(env: LoadedNodeSet) -> None:
    samples = env.nodeset.sample_inputs(np.random.default_rng(0)) or {}
    assert set(samples) == set(env.tools)
    for name, inputs in samples.items():
        columns: dict[str, Any] = {port: [value] for port, value in inputs.items()}
        assert call(env.tools[name], **columns)


def test_without_data_the_nodeset_still_describes_itself(
    repo_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WAYFARE_DATA", raising=False)
    env = load_nodeset(str(repo_root / "nodesets" / "env_r2r"))
    assert env.metadata is not None
    assert env.metadata["default_split"] == "val_unseen"
    with pytest.raises(UnavailableError, match="WAYFARE_DATA"):
        env.nodeset.get_episodes("val_unseen")


def test_a_person_walks_an_episode_without_touching_the_tools(env: LoadedNodeSet) -> None:
    assert env.controller is not None
    before = reset(env, 0)
    env.controller.on_field_change("episode_index", 1)
    with pytest.raises(ValueError, match="play first"):
        env.controller.on_action("forward", {})
    env.controller.on_action("play", {})
    shown = env.controller.on_action("forward", {})
    assert (shown["episode_id"], shown["state"]["viewpoint"]) == ("7_1", "b")
    assert shown["metrics"]["TL"] == 2.0
    assert reset(env, 0) == before
