"""The 36 views of a viewpoint come from files, and where they are navigable from `env_r2r`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nodesets.env_panorama.panorama import viewpoint_poses
from nodesets.env_r2r.navigation import read_graph
from tests.unit.nodesets.pose_files import write_store
from tests.unit.nodesets.r2r_world import PLACES, SCAN, call, write_world

from nodeset import UnavailableError
from nodeset.loading import LoadedNodeSet, load_nodeset

RNG = np.random.default_rng(0)
IMAGES = {name: RNG.integers(0, 256, (36, 4, 6, 3), np.uint8) for name in PLACES}
IN_ORDER = [name for name in PLACES if name != "x"]
AT_B = {"viewpoint": "b", "view_index": 13, "trajectory": ["a", "b"], "stopped": False}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_world(tmp_path)


@pytest.fixture
def load(data: Path, repo_root: Path) -> Any:
    def load(**config: Any) -> LoadedNodeSet:
        path = str(repo_root / "nodesets" / "env_panorama")
        return load_nodeset(path, config={"data_dir": str(data), **config})

    return load


def write_npz(path: Path, *, is_compressed: bool) -> None:
    save = np.savez_compressed if is_compressed else np.savez
    arrays: dict[str, Any] = {f"{SCAN}_{name}": images for name, images in IMAGES.items()}
    save(path, **arrays)


def write_hdf5(path: Path, **options: Any) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for name, images in IMAGES.items():
            file.create_dataset(f"{SCAN}_{name}", data=images, **options)


def bake(folder: Path, data: Path, frame: str, *, scene_id: str = SCAN) -> Path:
    poses = viewpoint_poses(read_graph(data / "connectivity", SCAN), frame)
    images = np.concatenate([IMAGES[name] for name in IN_ORDER])
    return write_store(folder, {scene_id: poses}, {"rgb": ("IMAGE", images)}, pose_frame=frame)


def look(env: LoadedNodeSet) -> tuple[Any, Any]:
    row = {"episode_index": [0, 0], "state": [AT_B, AT_B]}
    ahead = call(env.tools["observe"], **row)["rgb"]
    around = call(env.tools["observe_panorama"], **row)["rgb"]
    return ahead[1], around[1]


@pytest.mark.parametrize("is_compressed", [False, True])
def test_images_come_from_an_npz_file(load: Any, data: Path, is_compressed: bool) -> None:
    write_npz(data / "images.npz", is_compressed=is_compressed)

    ahead, around = look(load(images="images.npz"))

    assert np.array_equal(ahead, IMAGES["b"][13])
    assert np.array_equal(around, IMAGES["b"])
    assert around.flags.writeable is is_compressed, "an uncompressed array is mapped, not read"


@pytest.mark.parametrize("options", [{}, {"chunks": True, "compression": "gzip"}])
def test_images_come_from_an_hdf5_file(load: Any, data: Path, options: dict[str, Any]) -> None:
    write_hdf5(data / "images.hdf5", **options)

    assert np.array_equal(look(load(images="images.hdf5"))[1], IMAGES["b"])


@pytest.mark.parametrize("frame", ["mp3d", "habitat"])
def test_images_come_from_a_baked_store(load: Any, data: Path, frame: str) -> None:
    bake(data / "baked", data, frame)

    ahead, around = look(load(images="baked"))

    assert np.array_equal(ahead, IMAGES["b"][13])
    assert np.array_equal(around, IMAGES["b"])


def test_each_candidate_has_the_image_of_the_view_that_it_is_most_central_in(
    load: Any, data: Path
) -> None:
    write_npz(data / "images.npz", is_compressed=False)
    row = {"episode_index": [0], "state": [AT_B]}

    seen = call(load(images="images.npz").tools["observe_panorama"], **row)

    (candidates,), (views,) = seen["candidates"], seen["views"]
    assert len(views) == len(candidates) == 3
    for candidate, view in zip(candidates, views, strict=True):
        assert np.array_equal(view, IMAGES["b"][candidate["view"]])


def test_all_views_of_a_place_come_as_a_list_of_images(load: Any, data: Path) -> None:
    write_npz(data / "images.npz", is_compressed=False)
    row = {"episode_index": [0], "state": [AT_B]}

    (views,) = call(load(images="images.npz").tools["observe_views"], **row)["views"]

    assert len(views) == 36
    assert all(map(np.array_equal, views, IMAGES["b"]))
    assert call(load().tools["observe_views"], **row) == {}, "without images the port is left out"


def test_a_scene_that_is_a_file_stands_for_the_scan_of_its_name(load: Any, data: Path) -> None:
    bake(data / "baked", data, "habitat", scene_id=f"mp3d/{SCAN}/{SCAN}.glb")

    assert np.array_equal(look(load(images="baked"))[1], IMAGES["b"])


def test_a_store_that_was_baked_at_other_poses_is_refused(load: Any, data: Path) -> None:
    poses = viewpoint_poses(read_graph(data / "connectivity", SCAN))
    poses[40, 2] += 0.5
    images = np.concatenate([IMAGES[name] for name in IN_ORDER])
    folder = data / "moved"
    write_store(folder, {SCAN: poses}, {"rgb": ("IMAGE", images)}, pose_frame="mp3d")

    with pytest.raises(ValueError, match="was not rendered at the poses"):
        look(load(images="moved"))


def test_a_damaged_image_is_not_shown(load: Any, data: Path) -> None:
    path = bake(data / "baked", data, "mp3d") / "outputs" / "rgb.npy"
    images = np.load(path)
    np.save(path, images[::-1])

    with pytest.raises(ValueError, match=r"baked is damaged: row \d+ of its outputs \(rgb\)"):
        look(load(images="baked"))


def test_a_baked_store_that_was_cut_is_refused(load: Any, data: Path) -> None:
    path = bake(data / "baked", data, "mp3d") / "outputs" / "rgb.npy"
    path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(UnavailableError, match=r"rgb\.npy is damaged"):
        look(load(images="baked"))


def test_poses_are_those_of_the_viewpoints_and_their_views(load: Any, data: Path) -> None:
    tool = load().tools["viewpoint_poses"]
    (poses,) = call(tool, scan=[SCAN])["poses"]

    assert poses.shape == (36 * len(IN_ORDER), 7)
    assert poses[36 * IN_ORDER.index("b"), :3].tolist() == list(PLACES["b"])
    assert np.allclose(np.linalg.norm(poses[:, 3:], axis=1), 1.0)


def test_in_habitats_frame_y_is_up_and_a_level_north_view_looks_along_minus_z(data: Path) -> None:
    graph = read_graph(data / "connectivity", SCAN)
    poses = viewpoint_poses(graph, "habitat")
    up_at_u = poses[36 * IN_ORDER.index("u") + 12]

    assert up_at_u[:3].tolist() == [4.0, 3.0, -2.0]
    assert up_at_u[3:].tolist() == [0.0, 0.0, 0.0, 1.0]
    lifted, east = poses[24], poses[12 + 3]
    assert np.allclose(lifted[3:], [np.sin(np.pi / 12), 0, 0, np.cos(np.pi / 12)])
    assert np.allclose(east[3:], [0, -np.sqrt(0.5), 0, np.sqrt(0.5)])


def test_without_a_store_there_is_no_image_and_the_walk_is_that_of_room_to_room(load: Any) -> None:
    env = load()
    row = {"episode_index": [0], "state": [AT_B]}

    assert "rgb" not in call(env.tools["observe"], **row)
    assert not {"rgb", "views"} & call(env.tools["observe_panorama"], **row).keys()
    stepped = call(env.tools["step_panorama"], **row, action=[0])["state"][0]
    assert stepped["trajectory"] == ["a", "b", "a"]


def test_arrays_that_are_no_images_are_refused(load: Any, data: Path) -> None:
    arrays: dict[str, Any] = {f"{SCAN}_b": np.zeros((36, 4, 6, 3), np.float32)}
    np.savez(data / "floats.npz", **arrays)

    with pytest.raises(ValueError, match="images are uint8"):
        look(load(images="floats.npz"))


@pytest.mark.parametrize("content", [b"", b"some text", "half"])
def test_a_file_that_is_no_whole_npz_is_refused_by_name(
    load: Any, data: Path, content: bytes | str
) -> None:
    path = data / "images.npz"
    write_npz(path, is_compressed=False)
    whole = path.read_bytes()
    path.write_bytes(content if isinstance(content, bytes) else whole[: len(whole) // 2])

    with pytest.raises(UnavailableError, match=r"store .*images\.npz.* must be a whole \.npz"):
        look(load(images="images.npz"))


@pytest.mark.parametrize("is_compressed", [False, True])
def test_damaged_bytes_of_an_npz_file_are_found_by_its_checksum(
    load: Any, data: Path, is_compressed: bool
) -> None:
    path = data / "images.npz"
    write_npz(path, is_compressed=is_compressed)
    content = bytearray(path.read_bytes())
    for place in range(400, len(content) - 2000, 500):
        content[place] ^= 0xFF
    path.write_bytes(bytes(content))

    with pytest.raises(UnavailableError, match=f"is damaged at '{SCAN}_b.npy'"):
        look(load(images="images.npz"))


def test_a_file_that_is_no_hdf5_is_refused_by_name(load: Any, data: Path) -> None:
    pytest.importorskip("h5py")
    (data / "images.hdf5").write_bytes(b"some text")

    with pytest.raises(UnavailableError, match=r"store .*images\.hdf5.* must be a whole HDF5"):
        look(load(images="images.hdf5"))
