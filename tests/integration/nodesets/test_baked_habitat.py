"""A store that was baked of Habitat-Sim stands for it: the same bits, the same trajectory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wayfare

pytestmark = [pytest.mark.timeout(400), pytest.mark.usefixtures("habitat")]
GRID = {"spacing_m": 1.0}
EPISODES = 4
SHARED = {"list", "start", "observe", "act"}
"""The nodes that the agent's two graphs have in common."""
ALL_ROWS = 100_000


@pytest.fixture
def config(pointnav: dict[str, Any]) -> dict[str, Any]:
    """Give the nodeset's configuration of the generated episodes."""
    given = {key.partition(".")[2]: value for key, value in pointnav.items()}
    return {"calibre": "pointnav", **given}


def bake(out: Path, config: dict[str, Any], **options: Any) -> wayfare.Bake:
    given = {"by": "scene", "split": "test", "episodes": EPISODES, "verify": ALL_ROWS, **options}
    return wayfare.bake("env_habitat", out=out, config=config, **given)


def trajectories(run: wayfare.Run) -> list[list[tuple[str, tuple[int, ...], bytes]]]:
    """Return what the shared nodes gave in each episode."""
    return [
        [(f.path, f.turns, f.digest) for f in run.trajectory(episode) if f.path in SHARED]
        for episode in run.episodes
    ]


def test_all_rows_are_what_a_fresh_simulator_draws_and_an_agent_goes_the_same_way(
    config: dict[str, Any], pointnav: dict[str, Any], tmp_path: Path
) -> None:
    baked = bake(tmp_path / "store", config, node_config=GRID, workers=2)
    assert (baked.status, len(baked.header.scenes)) == ("done", 2)
    assert baked.verified == baked.rows > 50
    assert baked.different == ()
    pictures = np.load(baked.folder / "outputs" / "rgb.npy", mmap_mode="r")
    assert len({picture.tobytes() for picture in pictures}) > baked.rows / 2

    walk = {"episodes": EPISODES, "step_budget": 30, "out": tmp_path / "runs"}
    live = wayfare.evaluate("habitat_grid", split="test", overrides=pointnav, workers=2, **walk)
    store = {"env_pose_lookup.store": str(baked.folder)}
    runs = [
        wayfare.evaluate("pose_lookup_grid", overrides=store, workers=n, **walk) for n in (1, 2, 8)
    ]
    assert len({run.digest for run in runs}) == 1
    assert {episode.outcome for episode in (*live.episodes, *runs[0].episodes)} <= {
        "completed",
        "truncated",
    }
    assert trajectories(runs[0]) == trajectories(live)


def test_a_few_camera_poses_of_a_file_are_rendered_too(
    config: dict[str, Any], tmp_path: Path
) -> None:
    poses = np.tile(np.array([4.79, 1.59, 0.88, 0.0, 0.0, 0.0, 1.0]), (5, 1))
    poses[1:, 4], poses[1:, 6] = np.sin([0.2, 0.4, 0.6, 0.8]), np.cos([0.2, 0.4, 0.6, 0.8])
    np.save(tmp_path / "poses.npy", poses)

    baked = bake(
        tmp_path / "store",
        config,
        tool="observe_camera_pose",
        poses=tmp_path / "poses.npy",
        outputs=["rgb", "depth"],
        episodes=1,
    )

    assert (baked.status, baked.rows, baked.verified, baked.different) == ("done", 5, 5, ())
    depths = np.load(baked.folder / "outputs" / "depth.npy")
    assert depths.shape == (5, 256, 256)
    assert len({depth.tobytes() for depth in depths}) == 5


def test_a_grid_covers_both_scenes_and_every_place_is_navigable(
    config: dict[str, Any], tmp_path: Path
) -> None:
    baked = bake(
        tmp_path / "store", config, node_config={"spacing_m": 2.0, "headings": 1}, verify=0
    )

    poses = np.load(baked.folder / "poses.npy")
    for scene in baked.header.scenes:
        places = poses[scene.first_row : scene.stop_row, :3]
        assert len(np.unique(places, axis=0)) == len(places) > 1
        assert np.array_equal(places, places[np.lexsort(places.T[[1, 2, 0]])])
