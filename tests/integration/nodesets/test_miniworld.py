"""MiniWorld renders in every copy for itself, and draws the same whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

ENVIRONMENT = "env_miniworld"
ROOM = ("--set", f"{ENVIRONMENT}.id=MiniWorld-OneRoomS6-v0")
ROOM_M2 = 6 * 6


@pytest.fixture
def miniworld(rendering: Callable[[str], Any]) -> Any:
    return rendering(ENVIRONMENT)


def test_four_copies_with_a_context_each_draw_what_one_draws(miniworld: Any) -> None:
    runs = {
        workers: miniworld.evaluate(
            "miniworld_oracle", *ROOM, "--episodes", "4", "--workers", workers
        )
        for workers in ("1", "2", "4")
    }
    assert len({run["digest"] for run in runs.values()}) == 1
    assert {run["metrics"]["success"]["mean"] for run in runs.values()} == {1.0}
    copies = runs["4"]["nodesets"][ENVIRONMENT]["copies"]
    assert [copy["tag"] for copy in copies] == [f"{ENVIRONMENT}#{index}" for index in range(4)]
    assert len({copy["pid"] for copy in copies}) == 4


def test_frames_show_the_room_and_a_look_from_a_pose_is_that_of_who_stands_there(
    miniworld: Any, call_tools: Callable[..., dict[str, Any]]
) -> None:
    pose = "pose=[4.25, 0, 0.25, 0, -0.7071067811865475, 0, 0.7071067811865476]"
    line = ["observe", f"observe_pose {pose}", f"step_pose {pose}", "observe", "navigable_poses"]
    words = [word for tool in line for word in ("then", *f"{ENVIRONMENT}__{tool}".split(" ", 1))]
    seen = call_tools(miniworld, *words[1:])
    assert seen["observe.rgb"].shape == (60, 80, 3)
    assert not np.array_equal(seen["observe.rgb"], seen["observe_2.rgb"])
    for name in ("rgb", "depth"):
        assert np.array_equal(seen[f"observe_pose.{name}"], seen[f"observe_2.{name}"])
    assert len(np.unique(seen["observe.rgb"].reshape(-1, 3), axis=0)) > 100
    assert seen["observe.rgb"].mean() > 50
    assert 0.3 < seen["observe.depth"].min() < seen["observe.depth"].max() < 15.0
    assert seen["step_pose.pose"].tolist() in seen["navigable_poses.poses"].tolist()


def test_the_planner_maps_a_room_by_its_depth_images(miniworld: Any) -> None:
    run = miniworld.evaluate("miniworld_explore", *ROOM, "--episodes", "1")
    explored = run["metrics"]["explored_m2"]["mean"]
    assert 0.9 * ROOM_M2 < explored < 1.05 * ROOM_M2  # the goal's box hides a corner


def test_without_a_driver_the_packages_are_named(miniworld: Any) -> None:
    nowhere = {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nonexistent"}
    answer = miniworld.run("eval", "miniworld_random", "--episodes", "1", environment=nowhere)
    assert answer.status != 0
    assert "needs OpenGL through EGL, which is not here" in answer.err
    assert "apt-get install libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri" in answer.err
    assert "Traceback" not in answer.err
