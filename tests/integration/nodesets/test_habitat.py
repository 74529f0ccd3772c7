"""env_habitat and hmeqa on a real Habitat-Sim, where an interpreter has one."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wayfare

DEADLINE_SECONDS = 120
QUIET = {"MAGNUM_LOG": "quiet", "HABITAT_SIM_LOG": "quiet", "GLOG_minloglevel": "2"}
SCENES = ("habitat/simple_room.glb", "habitat/stage_floor1.glb")
UNREACHABLE = "no way leads from the start to the goal"

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def habitat() -> Path:
    """Give the interpreter of the environment `habitat`; skip where none has the simulator."""
    for folder in os.environ.get("WAYFARE_PYTHONS", "").split(os.pathsep):
        python = Path(folder) / "habitat/bin/python"
        if folder and python.exists():
            probe = [str(python), "-c", "import habitat_sim"]
            if subprocess.run(probe, capture_output=True, timeout=60).returncode == 0:
                return python
    pytest.skip(
        "no Habitat-Sim: make FOLDER/habitat with `conda create -p FOLDER/habitat python=3.9 "
        "habitat-sim headless -c conda-forge -c aihabitat`, and add FOLDER to WAYFARE_PYTHONS"
    )


@pytest.fixture
def data(data_file: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = data_file(SCENES[0]).parent.parent
    monkeypatch.setenv("WAYFARE_DATA", str(folder))
    return folder


@pytest.fixture
def run_script(habitat: Path, repo_root: Path, data: Path) -> Callable[..., str]:
    """Give a function that runs a script of the tree in the simulator's interpreter."""

    def run(script: str, *arguments: object) -> str:
        folders = os.pathsep.join([str(repo_root / "packages/nodeset/src"), str(repo_root)])
        done = subprocess.run(
            [str(habitat), str(repo_root / script), *map(str, arguments)],
            env={**os.environ, **QUIET, "PYTHONPATH": folders},
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    return run


@pytest.fixture
def pointnav(run_script: Callable[..., str], data: Path, tmp_path: Path) -> dict[str, Any]:
    """Give the configuration of 12 generated PointNav episodes over both scenes."""
    made = tmp_path / "test.json.gz"
    scenes = [data / scene for scene in SCENES]
    options = [
        "--prefix",
        "habitat/",
        "--count",
        "12",
        "--curved",
        "3",
        "--flat",
        "stage_floor1.glb",
    ]
    run_script("nodesets/env_habitat/generate.py", *scenes, "--out", made, *options)
    return {"env_habitat.episodes": str(tmp_path / "{split}.json.gz"), "env_habitat.gpu": -1}


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
    run_script: Callable[..., str], tmp_path: Path
) -> None:
    printed = run_script("tests/simulators/habitat_walk.py", tmp_path / "test.json.gz", tmp_path)
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
    run_script: Callable[..., str], tmp_path: Path
) -> None:
    run_script("tests/simulators/habitat_walk.py", tmp_path / "test.json.gz", tmp_path)
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
    data: Path, tmp_path: Path
) -> None:
    if not (data / "r2r_ce/val_unseen.json.gz").exists():
        pytest.skip("no r2r_ce/val_unseen.json.gz in WAYFARE_DATA")

    run = wayfare.evaluate("habitat_r2r_random", episodes=1, out=tmp_path)

    (episode,) = run.episodes
    assert episode.outcome == "error"
    assert "mp3d/zsNo4HB9uLZ/zsNo4HB9uLZ.glb is missing" in str(episode.error)


def test_a_question_is_explored_and_answered(habitat: Path, data: Path, tmp_path: Path) -> None:
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
