"""The Matterport3DSimulator nodeset, as far as it goes without the simulator."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nodesets.env_mp3d.pose import camera_poses, find_view, pose_of
from nodesets.env_mp3d.rollout import Rollout
from nodesets.env_mp3d.simulator import Camera, Matterport
from nodesets.env_r2r.navigation import NavigationGraph
from nodesets.env_r2r.view import HEADINGS, VIEWS
from nodesets.env_r2r.world import World
from tests.unit.nodesets.r2r_world import PLACES, SCAN, connectivity

from nodeset import UnavailableError
from nodeset.loading import load_nodeset


def turn(quaternion: np.ndarray, vector: tuple[float, float, float]) -> np.ndarray:
    x, y, z, w = quaternion
    axis = np.array([x, y, z])
    lifted = np.cross(axis, vector) + w * np.array(vector)
    result: np.ndarray = np.array(vector) + 2.0 * np.cross(axis, lifted)
    return result


def test_a_level_pose_looks_along_y_and_headings_turn_right() -> None:
    north = pose_of((1.0, 2.0, 3.0), HEADINGS)
    east = pose_of((1.0, 2.0, 3.0), HEADINGS + 3)

    assert north[:3].tolist() == [1.0, 2.0, 3.0]
    assert np.allclose(turn(north[3:], (0.0, 1.0, 0.0)), [0.0, 1.0, 0.0])
    assert np.allclose(turn(east[3:], (0.0, 1.0, 0.0)), [1.0, 0.0, 0.0])


def test_the_upper_row_looks_thirty_degrees_up() -> None:
    up = pose_of((0.0, 0.0, 0.0), 2 * HEADINGS)

    looking = turn(up[3:], (0.0, 1.0, 0.0))

    assert math.degrees(math.asin(looking[2])) == pytest.approx(30.0)


def test_an_interpreter_without_the_simulator_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match=r"needs the package 'MatterSim'.*build it from"):
        Matterport(tmp_path, Camera())


def test_a_tool_before_any_episode_says_that_none_has_begun() -> None:
    rollout = Rollout(World("/nowhere"), Camera())

    with pytest.raises(RuntimeError, match="no episode has begun"):
        _ = rollout.task


@pytest.mark.parametrize("action", [[0, 1], ["a", 0, 0], None, [0.5, 0, 0]])
def test_an_action_that_is_no_triple_is_refused(action: Any) -> None:
    rollout = Rollout(World("/nowhere"), Camera())

    with pytest.raises(ValueError, match="must be three numbers"):
        rollout.step(action)


GRAPH = NavigationGraph(SCAN, connectivity())
LEVEL = [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_every_view_of_every_viewpoint_is_found_by_its_pose(kind: Any) -> None:
    poses = camera_poses(GRAPH).astype(kind)
    names = [name for name in PLACES if name != "x"]

    found = [find_view(GRAPH, pose) for pose in poses]

    assert found == [(name, view) for name in names for view in range(VIEWS)]
    assert find_view(GRAPH, [*poses[40, :3], *-poses[40, 3:]]) == found[40]


@pytest.mark.parametrize(
    ("pose", "told"),
    [
        ([0.0, 0.5, 0.0, *LEVEL], "is no viewpoint of scan 'house': the nearest, 'a', is 0.5 m"),
        ([*PLACES["x"], *LEVEL], "is no viewpoint"),
        ([*PLACES["b"], 0.0, 0.0, 0.1, 0.99498744], "is none of the 36 views"),
        ([*PLACES["b"], 0.0, 0.0, 0.0, 2.0], "a quaternion x y z w of length 1"),
        ([0.0] * 6, "must be seven finite numbers"),
        ([math.nan, 0.0, 0.0, *LEVEL], "must be seven finite numbers"),
    ],
)
def test_a_pose_that_is_no_view_is_refused(pose: list[float], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        find_view(GRAPH, pose)


@pytest.mark.parametrize(
    ("config", "outputs"),
    [
        ({}, ["rgb"]),
        ({"depth": True}, ["rgb"]),
        ({"depth": True, "dataset": "/scans"}, ["rgb", "depth"]),
    ],
)
def test_only_what_is_rendered_is_an_output(
    repo_root: Path, config: dict[str, Any], outputs: list[str]
) -> None:
    loaded = load_nodeset(str(repo_root / "nodesets/env_mp3d"), "env_mp3d", config)

    ports = loaded.tools["observe_pose"].output_ports

    assert [port.name for port in ports] == outputs


def test_viewpoints_a_fraction_of_a_millimetre_apart_are_told_apart() -> None:
    locations = connectivity()
    locations[2]["pose"][3] = 2e-4  # b, where a was moved to
    locations[0]["pose"][7] = 2.0
    graph = NavigationGraph(SCAN, locations)

    found = {find_view(graph, pose)[0] for pose in camera_poses(graph)[: 2 * VIEWS]}

    assert found == {"a", "b"}
