"""The point walker turns the short way and goes; the linear controller keeps to its bounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nodeset import SettingError
from nodeset.context import BatchContext, Context
from nodeset.loading import load_nodeset

NODESET = Path(__file__).resolve().parents[3] / "nodesets" / "policy_planner"
LOADED = load_nodeset(str(NODESET))
LEFT, RIGHT, FORWARD = 0, 1, 2


def call(name, config=None, **inputs):
    tool = LOADED.tools[name]
    rows = len(inputs[tool.batch_dim])
    context = BatchContext({**tool.default_config, **(config or {})}, [Context({})] * rows)
    return tool.forward(inputs, context)["action"]


def facing(yaw):
    return [0.0, 0.0, 0.0, 0.0, np.sin(yaw / 2), 0.0, np.cos(yaw / 2)]


@pytest.mark.parametrize(
    ("goal", "action"),
    [
        ([0, 0, -3], FORWARD),
        ([0.3, 0, -3], FORWARD),
        ([3, 0, 0], RIGHT),
        ([-3, 0, 0], LEFT),
        ([-0.1, 0, 3], LEFT),
        ([0.1, 0, 3], RIGHT),
    ],
)
def test_the_goal_is_turned_to_the_short_way_and_walked_to(goal, action):
    pose = np.array([facing(0.0)])
    assert call("to_point", pose=pose, goal=np.array([goal], np.float64)) == [action]


def test_a_heading_is_read_from_any_quaternion_of_it():
    poses = np.array([facing(2.0), facing(2.0 - 2 * np.pi), facing(2.0 + 2 * np.pi)])
    goals = np.array([[-np.sin(2.0), 0.0, -np.cos(2.0)]] * 3)
    assert call("to_point", pose=poses, goal=goals) == [FORWARD] * 3


def test_actions_go_by_the_names_that_the_graph_gives_them():
    config = {"forward": 1, "left": 2, "right": 3}
    pose, goal = np.array([facing(0.0)]), np.array([[3.0, 0.0, 0.0]])
    assert call("to_point", config, pose=pose, goal=goal) == [3]


def test_feedback_is_gains_times_observation_within_bounds():
    config = {"gains": [[1.0, -2.0], [10.0, 0.0]], "low": -3, "high": 3}
    (action,) = call("linear_feedback", config, observation=np.array([[2.0, 0.5]]))
    assert action.dtype == np.float32
    assert action.tolist() == [1.0, 3.0]


def test_gains_that_do_not_fit_the_observation_are_refused():
    with pytest.raises(SettingError, match="with 3 finite numbers each"):
        call("linear_feedback", {"gains": [[1.0]]}, observation=np.zeros((1, 3)))
