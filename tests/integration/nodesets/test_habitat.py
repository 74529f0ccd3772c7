"""env_habitat and hmeqa on a real Habitat-Sim, where an interpreter has one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wayfare

UNREACHABLE = "no way leads from the start to the goal"


def test_the_follower_reaches_every_goal_whatever_the_number_of_workers(
    pointnav: dict[str, Any], tmp_path: Path
) -> None:
    runs = [
        wayfare.evaluate(
            "habitat_pointnav_follower",
            workers=n,
            overrides=pointnav,
            split="test",
            out=tmp_path / "r",
        )
        for n in (1, 2, 4)
    ]

    assert len({run.digest for run in runs}) == 1
    metrics = runs[0].metrics
    assert (metrics["SR"].n, metrics["SR"].mean) == (11, 1.0)
    assert (metrics["SPL"].mean or 0.0) >= 0.9
    assert metrics["SR"].undefined == metrics["NE"].undefined == {UNREACHABLE: 1}


def test_the_agent_that_stops_at_once_never_succeeds(
    pointnav: dict[str, Any], tmp_path: Path
) -> None:
    run = wayfare.evaluate(
        "habitat_pointnav_stop", workers=2, overrides=pointnav, split="test", out=tmp_path / "r"
    )

    assert (run.metrics["SR"].n, run.metrics["SR"].mean, run.metrics["TL"].mean) == (11, 0.0, 0.0)
    assert [episode.outcome for episode in run.episodes] == ["completed"] * 12


@pytest.mark.usefixtures("pointnav")
def test_a_pose_has_one_view_however_it_is_reached(
    run_in_habitat: Callable[..., str], tmp_path: Path
) -> None:
    printed = run_in_habitat(
        "tests/simulators/habitat_walk.py", tmp_path / "test.json.gz", tmp_path
    )
    report = json.loads(printed.splitlines()[-1])

    ahead, tilted = report["ahead"], report["tilted"]
    assert ahead["shapes"]["rgb"] == [256, 256, 3]
    assert all(ahead[name] is True for name in ahead if name.startswith("same"))
    assert (ahead["ways_differ"], ahead["is_lit"], ahead["moved"]) == (4, True, True)
    assert "not navigable in scene 'habitat/simple_room.glb'" in ahead["refused"]
    assert tilted["tilt"] == pytest.approx(-30.0, abs=1e-3)
    assert tilted["height"] == pytest.approx(0.88)
    assert tilted["same_after_looking"] is True
    assert tilted["depth"][0] >= 0.5


@pytest.mark.usefixtures("pointnav")
def test_a_replayed_walk_is_the_ground_truth(
    run_in_habitat: Callable[..., str], tmp_path: Path
) -> None:
    run_in_habitat("tests/simulators/habitat_walk.py", tmp_path / "test.json.gz", tmp_path)
    files = {
        "env_habitat.episodes": str(tmp_path / "r2r_ce/{split}.json.gz"),
        "env_habitat.ground_truth": str(tmp_path / "r2r_ce/{split}_gt.json.gz"),
    }

    run = wayfare.evaluate("habitat_r2r_replay", overrides=files, split="val", out=tmp_path / "r")

    (episode,) = run.episodes
    scores = episode.metrics
    assert (scores["nDTW"], scores["sDTW"], scores["NE"], scores["SR"]) == (1.0, 1.0, 0.0, True)
    assert episode.steps == 11


@pytest.mark.usefixtures("habitat")
def test_a_missing_scene_is_an_error_of_its_episodes_that_says_where_to_get_it(
    habitat_data: Path, tmp_path: Path
) -> None:
    if not (habitat_data / "r2r_ce/val_unseen.json.gz").exists():
        pytest.skip("no r2r_ce/val_unseen.json.gz in WAYFARE_DATA")

    run = wayfare.evaluate("habitat_r2r_random", episodes=1, out=tmp_path)

    (episode,) = run.episodes
    assert episode.outcome == "error"
    assert "mp3d/zsNo4HB9uLZ/zsNo4HB9uLZ.glb is missing" in str(episode.error)


def test_a_question_is_explored_and_answered(
    habitat: Path, habitat_data: Path, tmp_path: Path
) -> None:
    (tmp_path / "q.csv").write_text(
        "scene,floor,question,choices,answer,label\n"
        "simple_room,0,Is it white?,\"['Yes', 'No', 'A bit', 'Grey']\",A,state\n"
        "stage_floor1,0,Is it green?,\"['Yes', 'No', 'A bit', 'Grey']\",A,state\n"
    )
    (tmp_path / "s.csv").write_text(
        "scene_floor,init_x,init_y,init_z,init_angle\n"
        "simple_room_0,4.7908144,0.33861828,0.87791526,1.2\n"
        "stage_floor1_0,-6.683631,0.02005302,-3.0031066,4.0\n"
    )
    tables = {
        "hmeqa.questions": str(tmp_path / "q.csv"),
        "hmeqa.starts": str(tmp_path / "s.csv"),
        "hmeqa.scenes": "habitat/{scene}.glb",
    }

    runs = [
        wayfare.evaluate("hmeqa_explore", workers=n, overrides=tables, out=tmp_path / "r")
        for n in (1, 2)
    ]

    assert runs[0].digest == runs[1].digest
    assert [episode.outcome for episode in runs[0].episodes] == ["completed"] * 2
    assert {e.scene_id: e.metrics["steps"] for e in runs[0].episodes} == {
        "simple_room": 32,
        "stage_floor1": 59,
    }
    assert runs[0].metrics["chance"].mean == 0.25
    assert (runs[0].metrics["TL"].mean or 0.0) > 10.0
