"""The Matterport3DSimulator nodeset, as far as it goes without the simulator."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nodesets.env_mp3d.rollout import Rollout
from nodesets.env_mp3d.simulator import Camera, Matterport, pose_of
from nodesets.env_r2r.view import HEADINGS
from nodesets.env_r2r.world import World

from nodeset import UnavailableError


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
