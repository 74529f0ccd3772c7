"""MuJoCo renders in every copy for itself, and draws the same whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

ENVIRONMENT = "env_mujoco"
STEPS = 30


@pytest.fixture
def mujoco(rendering: Callable[[str], Any]) -> Any:
    return rendering(ENVIRONMENT)


def test_four_copies_with_a_context_each_draw_what_one_draws(mujoco: Any) -> None:
    short = ("--episodes", "4", "--set", f"{ENVIRONMENT}.max_episode_steps={STEPS}")
    runs = {
        workers: mujoco.evaluate("mujoco_balance", *short, "--workers", workers)
        for workers in ("1", "2", "4")
    }
    assert len({run["digest"] for run in runs.values()}) == 1
    assert {run["metrics"]["success"]["mean"] for run in runs.values()} == {1.0}
    copies = runs["4"]["nodesets"][ENVIRONMENT]["copies"]
    assert [copy["tag"] for copy in copies] == [f"{ENVIRONMENT}#{index}" for index in range(4)]
    assert len({copy["pid"] for copy in copies}) == 4


def test_random_forces_let_the_pole_fall(mujoco: Any) -> None:
    run = mujoco.evaluate("mujoco_random", "--episodes", "3")
    assert run["metrics"]["success"]["mean"] == 0.0
    assert run["metrics"]["length"]["mean"] < 100


def test_frames_show_the_robot_and_the_floor_is_nearer_at_the_bottom(
    mujoco: Any, call_tools: Callable[..., dict[str, Any]]
) -> None:
    seen = call_tools(mujoco, f"{ENVIRONMENT}__observe", "--set", f"{ENVIRONMENT}.id=Hopper-v5")
    rgb, depth = seen["observe.rgb"], seen["observe.depth"]
    assert rgb.shape == (96, 96, 3)
    assert rgb.mean() > 50
    assert len(np.unique(rgb.reshape(-1, 3), axis=0)) > 100
    # The camera stands 3 m beside the robot; the floor reaches from under it to the horizon.
    assert 2.0 < depth.min() < 3.0
    assert (np.diff(depth[60:, 5]) < 0).all()
