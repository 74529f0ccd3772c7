"""A store that was baked of Habitat-Sim stands for it: the same bits, the same trajectory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wayfare

pytestmark = pytest.mark.usefixtures("habitat")
WORKSPACES = [Path(__file__).resolve().parents[2] / "workspace"]
LIVE, SERVED = "env_habitat", "env_pose_lookup"
EYES = {LIVE: "observe_pose", SERVED: "observe"}
"""The tool of each that shows what is seen from a pose."""
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


def evaluate(agent: Any, **options: Any) -> wayfare.Run:
    return wayfare.evaluate(agent, workspaces=WORKSPACES, **options)


def wanderer(environment: str, config: dict[str, Any]) -> wayfare.Graph:
    """Build the agent that goes from pose to pose as the pictures say, on a simulator or a store.

    The simulator is moved turn by turn; a store keeps nothing and is given the whole way.
    """
    is_live = environment == LIVE
    graph = wayfare.Graph(f"wander_{environment}", environment=environment)
    graph.nodeset(environment, config=config)
    given: dict[str, Any] = {"config": GRID}
    walked: dict[str, Any] = {}
    if not is_live:
        given = {"episode_index": graph.episode().episode_index}
    poses = graph.add(f"{environment}__navigable_poses", "list", **given).poses
    start = graph.add("policy_planner__grid_start", "start", poses=poses)
    with graph.loop("turn", pose=start.pose) as turn:
        seen = graph.add(f"{environment}__{EYES[environment]}", "observe", pose=turn.pose)
        act = graph.add(
            "policy_gaze__wander",
            "act",
            poses=poses,
            pose=turn.pose,
            rgb=seen.rgb,
            depth=seen.depth,
        )
        if is_live:
            graph.add(f"{environment}__step_pose", "go", pose=act.pose)
        else:
            walked["poses"] = graph.collect(turn.pose)
        turn.carry(pose=act.pose)
        turn.stop(act.done)
    walked = walked or {"after": turn.final_step}
    scored = graph.add(f"{environment}__evaluate", "evaluate", **walked)
    graph.output("metrics", scored.metrics)
    return graph


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

    store = {"store": str(baked.folder)}
    pairs = [
        (wanderer(LIVE, config), wanderer(SERVED, store), {}),
        ("habitat_grid", "pose_lookup_grid", {"env_pose_lookup.store": str(baked.folder)}),
    ]
    walk = {"episodes": EPISODES, "step_budget": 20, "out": tmp_path / "runs"}
    for live_agent, served_agent, settings in pairs:
        overrides = pointnav if settings else {}
        live = evaluate(live_agent, split="test", overrides=overrides, workers=2, **walk)
        served = [evaluate(served_agent, overrides=settings, workers=n, **walk) for n in (1, 8)]
        assert served[0].digest == served[1].digest
        assert trajectories(served[0]) == trajectories(live)
        assert {episode.error for episode in live.episodes} == {None}
        if not settings:
            acts = {digest for e in trajectories(live) for path, _, digest in e if path == "act"}
            assert len(acts) > 10, "it goes from place to place"


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
