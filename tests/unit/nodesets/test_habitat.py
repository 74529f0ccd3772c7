"""env_habitat as far as it goes without the simulator."""

from __future__ import annotations

import math

import numpy as np
import pytest
from nodesets.env_habitat.calibre import CALIBRES
from nodesets.env_habitat.ground import Ground
from nodesets.env_habitat.pose import (
    checked_pose,
    multiply,
    pitch_quaternion,
    rotate,
    yaw_of,
    yaw_quaternion,
)
from nodesets.env_habitat.rollout import Rollout
from nodesets.env_habitat.settings import choose_gpu, read_grid
from nodesets.env_habitat.simulator import Simulator
from tests.unit.nodesets.habitat_files import episode, r2r_episode, write_json

from nodeset import SettingError, Settings, UnavailableError
from nodeset.loading import load_nodeset


@pytest.fixture
def load(repo_root):
    path = repo_root / "nodesets/env_habitat"
    return lambda **config: load_nodeset(str(path), "env_habitat", config)


def test_calibres_are_the_published_ones():
    shown = {
        name: (c.rgb.width, c.rgb.hfov_deg, c.turn_deg, c.agent_radius_m, c.success_m)
        for name, c in CALIBRES.items()
    }

    assert shown == {
        "vlnce_r2r": (224, 90.0, 15.0, 0.1, 3.0),
        "rxr_habitat": (640, 79.0, 30.0, 0.18, 3.0),
        "pointnav": (256, 90.0, 10.0, 0.1, 0.2),
        "objectnav": (640, 79.0, 30.0, 0.18, 0.1),
    }
    assert CALIBRES["vlnce_r2r"].depth.width == 256
    assert [name for name, c in CALIBRES.items() if c.allows_sliding] == ["vlnce_r2r", "pointnav"]


def test_an_unknown_calibre_is_refused_with_the_known_ones(load):
    with pytest.raises(SettingError, match="'calibre' is 'r2r'; it must be one of vlnce_r2r"):
        load(calibre="r2r")


def test_the_corner_of_the_field_of_view_is_the_edge_of_the_picture():
    camera = CALIBRES["rxr_habitat"].rgb
    side = math.tan(math.radians(79.0 / 2))

    u, v, depth = camera.intrinsics() @ (side, 0.0, 1.0)

    assert (u, v, depth) == pytest.approx((640.0, 240.0, 1.0))


def test_manifest_and_episodes_come_without_a_simulator(load, tmp_path):
    write_json(tmp_path / "r2r_ce/val_unseen.json.gz", {"episodes": [r2r_episode(3)]})

    loaded = load(data_dir=str(tmp_path))

    assert loaded.metadata["default_split"] == "val_unseen"
    assert loaded.metadata["metrics"] == ["NE", "TL", "SR", "OSR", "SPL", "nDTW", "sDTW"]
    assert loaded.metadata["submission"]["format"] == "vln_ce"
    assert [e.info["instruction"] for e in loaded.nodeset.get_episodes("val_unseen")] == [
        "Go to the sofa."
    ]
    assert "teacher_replay" in loaded.tools


def test_nobody_walked_pointnav_before(load, tmp_path):
    write_json(tmp_path / "test.json", {"episodes": [episode()]})

    loaded = load(calibre="pointnav", data_dir=str(tmp_path), episodes="{split}.json")

    assert "nDTW" not in loaded.metadata["metrics"]
    assert "teacher_replay" not in loaded.tools
    assert loaded.controller.on_load() == {"split": "test", "episode_index": 0}


def test_an_interpreter_without_the_simulator_says_what_is_missing():
    with pytest.raises(UnavailableError, match=r"needs the package habitat_sim.*conda create"):
        Simulator(CALIBRES["pointnav"], -1).open()


def test_a_tool_before_any_episode_says_that_none_has_begun():
    calibre = CALIBRES["pointnav"]

    with pytest.raises(RuntimeError, match="no episode has begun"):
        _ = Rollout(calibre, Simulator(calibre, -1)).task


def test_the_gpu_is_the_first_that_the_launcher_left_visible(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,4")
    settings = Settings({}, "env_habitat")
    assert [choose_gpu(settings, gpu) for gpu in ("auto", 1, -1)] == [3, 1, -1]

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert choose_gpu(settings, "auto") == -1


@pytest.mark.parametrize("gpu", ["0", -2, True, 0.5])
def test_a_gpu_that_is_none_is_refused(gpu):
    with pytest.raises(SettingError, match="it must be 'auto'"):
        choose_gpu(Settings({"gpu": gpu}, "env_habitat"), gpu)


def test_a_pose_keeps_its_bits_unless_its_quaternion_is_off():
    exact = [1.0, 2.0, 3.0, 0.0, 0.5, 0.0, 0.8660254037844387]
    assert checked_pose(exact).tolist() == exact

    longer = [*exact[:3], *(1.0005 * value for value in exact[3:])]
    assert checked_pose(longer) == pytest.approx(np.array(exact))


@pytest.mark.parametrize(
    "pose", [[0.0] * 6, [0.0] * 7, [math.nan, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 1.1]]
)
def test_what_is_no_pose_is_refused(pose):
    with pytest.raises(ValueError, match="pose"):
        checked_pose(pose)


def test_a_turn_to_the_left_looks_along_minus_x_and_a_tilt_does_not_turn():
    left = yaw_quaternion(math.pi / 2)

    assert rotate(left, (0.0, 0.0, -1.0)) == pytest.approx(np.array([-1.0, 0.0, 0.0]))
    tilted = multiply(left, pitch_quaternion(math.radians(-30)))
    assert rotate(tilted, (0.0, 0.0, -1.0))[1] == pytest.approx(-0.5)
    assert yaw_of(tilted) == pytest.approx(math.pi / 2)


class Storeys:
    """A mesh of square floors at some heights, as Habitat-Sim's path finder shows it."""

    side_m = 4.0

    def __init__(self, *heights):
        self.heights = np.array(heights, np.float32)

    def get_bounds(self):
        return (0.0, self.heights.min(), 0.0), (self.side_m, self.heights.max(), self.side_m)

    def snap_point(self, point):
        nearest = self.heights[np.argmin(np.abs(self.heights - point[1]))]
        inside = np.clip(point, 0.0, self.side_m - 1.5).astype(np.float32)
        return np.array([inside[0], nearest, inside[2]], np.float32)

    def is_navigable(self, point, within_m):
        return bool(np.abs(self.heights - point[1]).min() <= within_m)


def test_a_grid_has_a_place_per_floor_and_none_beside_the_mesh():
    places = Ground(None, Storeys(0.25, 3.25)).places(1.0)

    inside = (0.5, 1.5, 2.5)
    assert places == [(x, y, z) for x in inside for z in inside for y in (0.25, 3.25)]


@pytest.mark.parametrize("config", [{"spacing_m": 0.0}, {"spacing_m": True}, {"headings": 0}])
def test_a_grid_that_is_none_is_refused(config):
    with pytest.raises(SettingError, match="it must be a"):
        read_grid({"spacing_m": 1.0, "headings": 4, **config})
