"""What was seen from a pose comes back bit for bit, from that pose or one that is near enough."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.nodesets.pose_files import make_poses, write_store

from nodeset import BatchContext, Context, EpisodeContext, SettingError, UnavailableError
from nodeset.loading import LoadedNodeSet, load_nodeset

FIRST = make_poses((0, 0, 0), (0, 0, 90), (1, 0, 0))
SECOND = make_poses((0, 0, 0), (0, -2, 180))
RGB = np.random.default_rng(0).integers(0, 256, (5, 4, 6, 3), np.uint8)
FAR = np.arange(5) / 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    outputs = {"rgb": ("IMAGE", RGB), "far": ("FLOAT", FAR)}
    return write_store(tmp_path / "store", {"hall": FIRST, "attic": SECOND}, outputs)


@pytest.fixture
def load(folder: Path, repo_root: Path) -> Any:
    def load(**config: Any) -> LoadedNodeSet:
        path = str(repo_root / "nodesets" / "env_pose_lookup")
        return load_nodeset(path, config={"store": str(folder), **config})

    return load


def observe(env: LoadedNodeSet, pose: Any, *episodes: int) -> dict[str, Any]:
    """Look from one pose in several episodes at once."""
    rows = [Context({}, EpisodeContext(index, "")) for index in episodes]
    inputs = {"pose": np.stack([pose] * len(rows))}
    result: dict[str, Any] = env.tools["observe"].forward(inputs, BatchContext({}, rows))
    return result


def test_a_pose_gives_the_row_of_its_own_episodes_scene(load: Any) -> None:
    seen = observe(load(), FIRST[0], 0, 1, 0)

    assert np.array_equal(np.stack(seen["rgb"]), RGB[[0, 3, 0]])
    assert seen["far"] == [FAR[0], FAR[3], FAR[0]]


def test_rows_are_those_of_the_file_and_not_copied(load: Any, folder: Path) -> None:
    image = observe(load(), FIRST[1], 0)["rgb"][0]
    file = np.lib.format.open_memmap(folder / "outputs" / "rgb.npy", mode="r+")
    file[1] = 7

    assert np.all(image == 7), "what was given is the mapped file itself"
    assert not image.flags.writeable


def test_zeros_and_quaternions_have_two_signs_and_one_meaning(load: Any) -> None:
    same = -FIRST[1]
    same[:3] = [-0.0, 0.0, -0.0]

    assert np.array_equal(observe(load(), same, 0)["rgb"][0], RGB[1])


def test_of_two_poses_that_mean_the_same_the_first_is_seen_from_either(
    load: Any, tmp_path: Path
) -> None:
    twice = np.stack([FIRST[1], FIRST[0], np.r_[FIRST[1, :3], -FIRST[1, 3:]]])
    outputs = {"far": ("FLOAT", FAR[:3])}
    env = load(store=str(write_store(tmp_path / "twice", {"hall": twice}, outputs)))

    assert [observe(env, pose, 0)["far"][0] for pose in twice] == [FAR[0], FAR[1], FAR[0]]


def test_a_pose_that_was_not_rendered_is_refused_with_the_nearest(load: Any) -> None:
    beside = make_poses((0.9, 0, 0))[0]

    with pytest.raises(ValueError, match=r"hall.* not rendered from .*nearest.* 0\.1 m and 0 deg"):
        observe(load(), beside, 0)


def test_the_nearest_pose_is_that_of_the_nearest_place_turned_least(load: Any) -> None:
    env = load(match="nearest", max_distance_m=0.5, max_angle_deg=60.0)

    assert np.array_equal(observe(env, make_poses((0.4, 0, 50))[0], 0)["rgb"][0], RGB[1])
    assert np.array_equal(observe(env, make_poses((0.6, 0, 50))[0], 0)["rgb"][0], RGB[2])
    with pytest.raises(ValueError, match=r"max_distance_m is 0.5, max_angle_deg 60"):
        observe(env, make_poses((0.4, 0, -110))[0], 0)


@pytest.mark.parametrize("pose", [np.zeros(7), np.full(7, np.nan), np.ones(3)])
def test_what_is_no_pose_is_refused(load: Any, pose: Any) -> None:
    with pytest.raises(ValueError, match="must be seven finite numbers"):
        observe(load(), pose, 0)


def test_the_ports_and_the_episodes_are_those_of_the_store(load: Any) -> None:
    env = load()

    ports = [(port.name, port.wire_type) for port in env.tools["observe"].output_ports]
    assert ports == [("rgb", "IMAGE"), ("far", "FLOAT")]
    assert env.metadata["splits"] == ["test"]
    assert env.metadata["pose_frame"] == "habitat"
    episodes = env.nodeset.get_episodes("test")
    assert [(e.id, e.scene_id) for e in episodes] == [("0", "hall"), ("1", "attic")]


def test_another_content_is_another_list_of_episodes(load: Any, tmp_path: Path) -> None:
    scenes = {"hall": FIRST, "attic": SECOND}
    stores = [
        write_store(tmp_path / name, scenes, {"far": ("FLOAT", far)})
        for name, far in (("a", FAR), ("b", FAR + 1), ("c", FAR))
    ]

    named = [load(store=str(s)).nodeset.get_episodes("test")[0].info["store"] for s in stores]

    assert named[0] != named[1]
    assert named[0] == named[2]


def test_a_way_is_measured_in_metres_and_in_poses(load: Any) -> None:
    rows = [Context({}, EpisodeContext(0, ""))] * 2
    ways = [[FIRST[0], FIRST[2], FIRST[0]], []]
    tool = load().tools["evaluate"]

    first, nowhere = tool.forward({"poses": ways}, BatchContext({}, rows))["metrics"]

    assert first == {"length": 3, "TL": 2.0, "coverage": 2 / 3}
    assert nowhere["TL"] == {"undefined": "no pose was taken"}


def test_a_person_walks_through_the_poses(load: Any) -> None:
    controller = load().controller
    controller.on_field_change("episode_index", 1)

    assert controller.on_action("play", {})["pose"] == SECOND[0].tolist()
    assert controller.on_action("previous", {})["pose"] == SECOND[1].tolist()
    with pytest.raises(ValueError, match="has the episodes 0 to 1"):
        controller.on_field_change("episode_index", 2)


def test_a_store_that_is_not_finished_is_refused(tmp_path: Path, load: Any) -> None:
    folder = tmp_path / "begun"
    write_store(folder, {"hall": FIRST}, {"far": ("FLOAT", FAR[:3])}, is_finished=False)

    with pytest.raises(UnavailableError, match="is not finished; the command"):
        load(store=str(folder))


def test_without_a_store_it_describes_itself_and_says_what_is_missing(load: Any) -> None:
    env = load(store="")

    assert env.metadata["default_split"] == "test"
    with pytest.raises(UnavailableError, match=r"env_pose_lookup\.store=FOLDER"):
        env.nodeset.get_episodes("test")


@pytest.mark.parametrize(("key", "value"), [("match", "best"), ("max_angle_deg", 181)])
def test_a_tolerance_that_is_none_is_refused(load: Any, key: str, value: Any) -> None:
    with pytest.raises(SettingError, match=f"setting {key!r} is"):
        load(**{key: value})
