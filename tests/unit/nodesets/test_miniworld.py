"""What of MiniWorld needs no simulator: poses, settings, and what is said where it is missing."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from nodesets.env_miniworld import pose, setting
from nodesets.tsdf_planner import pose as planner_pose

from nodeset import SettingError, UnavailableError
from nodeset.loading import load_nodeset

NODESETS = Path(__file__).resolve().parents[3] / "nodesets"


@pytest.mark.parametrize("direction", [0.0, 1.0, np.pi / 2, 3.0, -2.0, 100.0])
def test_a_pose_faces_where_miniworld_does_and_reads_back(direction):
    place = np.array([1.5, 0.0, -2.0])
    made = pose.upright_pose(place, direction)
    ahead = planner_pose.heading_of(made)
    assert ahead == pytest.approx([np.cos(direction), -np.sin(direction)])
    position, read = pose.read_pose(made)
    assert position == pytest.approx(place)
    assert np.cos(read - direction) == pytest.approx(1.0)


def test_a_pitch_above_0_looks_up_and_keeps_the_heading():
    level = pose.upright_pose([0.0, 1.5, 0.0], 0.7)
    raised = pose.pitched(level, np.radians(30))
    ahead = -planner_pose.rotation(raised)[:, 2]
    assert ahead[1] == pytest.approx(0.5)
    assert planner_pose.heading_of(raised) == pytest.approx(planner_pose.heading_of(level))


@pytest.mark.parametrize(
    "fault", [[0, 1, 0, 0, 0, 0, 1], [0, 0, 0, 0.6, 0, 0, 0.8], [0, 0, 0, 0, 0, 0, 0]]
)
def test_a_body_that_does_not_stand_upright_on_the_floor_is_refused(fault):
    with pytest.raises(ValueError, match="on the floor \\(y = 0\\), upright"):
        pose.read_pose(np.array(fault, np.float64))


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("id", "CartPole-v1", "an id that begins with 'MiniWorld-'"),
        ("episodes", 0, "a whole number from 1"),
        ("camera_fov_deg", 180, "a finite number from 1 to 170"),
        ("kwargs", {"domain_rand": True}, "without domain_rand"),
        ("split", "", "text"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(key, value, rule):
    with pytest.raises(SettingError, match=f"setting '{key}' is .*{rule}"):
        setting.read_setting({**setting.DEFAULT_CONFIG, key: value})


@pytest.mark.parametrize(
    ("name", "package"), [("env_miniworld", "pyglet"), ("env_mujoco", "mujoco")]
)
def test_a_missing_package_is_named_with_the_command_that_brings_it(name, package):
    if importlib.util.find_spec(package):
        pytest.skip(f"{package} is installed in the interpreter that runs the tests")
    with pytest.raises(UnavailableError) as caught:
        load_nodeset(str(NODESETS / name))
    assert f"lacks the package '{package}'" in str(caught.value)
    assert f"wayfare nodesets --build {name}" in str(caught.value)
