"""Fusing depth images of rooms whose surfaces are known gives those surfaces back."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

from nodeset.loading import load_nodeset

ROOT = Path(__file__).resolve().parents[3]
load_nodeset(str(ROOT / "nodesets" / "tsdf_planner"))
load_nodeset(str(ROOT / "tests" / "workspace" / "nodesets" / "env_flat"))
boxes = importlib.import_module("nodesets.env_flat.boxes")
flat = importlib.import_module("nodesets.env_flat")
fusion = importlib.import_module("nodesets.tsdf_planner.fusion")
pose = importlib.import_module("nodesets.tsdf_planner.pose")
setting = importlib.import_module("nodesets.tsdf_planner.setting")
volume = importlib.import_module("nodesets.tsdf_planner.volume")

SETTING = setting.read_setting(setting.DEFAULT_CONFIG)
LENS = boxes.make_lens(120, 120, 90.0)
BOUNDS = [[-0.5, 0.0, -0.5], [4.5, 2.5, 4.5]]
SHELL = np.array(
    [
        [[-1, -1, -1], [5, 0, 5]],
        [[-1, 2.5, -1], [5, 3.5, 5]],
        [[-1, 0, -1], [0, 2.5, 5]],
        [[4, 0, -1], [5, 2.5, 5]],
        [[0, 0, -1], [4, 2.5, 0]],
        [[0, 0, 4], [4, 2.5, 5]],
    ]
)
"""A room of 4 by 4 metres without anything in it."""
FURNITURE = np.array([[[1, 0, 1], [1.83, 0.77, 2.21]], [[3.17, 0, 2.9], [4, 2, 4]]])


def see(solids, position, yaw):
    agent = [position[0], 0.0, position[1], 0.0, np.sin(yaw / 2), 0.0, np.cos(yaw / 2)]
    eye = flat.tilt(np.array(agent))
    depth = boxes.render_depth(solids, eye[:3], axes=flat.axes_of(eye), lens=LENS)
    return fusion.View(depth, pose.make_camera(eye, LENS.matrix()))


def reconstruct(solids, positions):
    built = volume.Volume(volume.make_grid(BOUNDS, 0.0, SETTING), SETTING)
    for position in positions:
        for yaw in np.arange(8) * np.pi / 4:
            built.integrate(see(solids, position, yaw))
    return built


def find_crossings(built):
    """Return where the distance passes zero between two neighbours along an axis."""
    found = []
    for axis in range(3):
        low = tuple(slice(None, -1 if a == axis else None) for a in range(3))
        high = tuple(slice(1 if a == axis else None, None) for a in range(3))
        before, after = (built.distance[part].astype(np.float64) for part in (low, high))
        known = (built.weight[low] > 0) & (built.weight[high] > 0)
        at = np.argwhere(known & (before * after < 0))
        share = before[tuple(at.T)] / (before - after)[tuple(at.T)]
        points = built.grid.lower + (at + 0.5) * built.grid.voxel_m
        points[:, axis] += share * built.grid.voxel_m
        found.append(points)
    return np.concatenate(found)


@pytest.fixture(scope="module")
def empty_room():
    return reconstruct(SHELL, [(2.0, 2.0)])


def test_every_point_of_an_empty_rooms_surface_is_less_than_a_voxel_off(empty_room):
    errors = boxes.distance_to(SHELL, find_crossings(empty_room))
    assert len(errors) > 2000
    assert errors.max() < SETTING.voxel_m
    assert errors.mean() < SETTING.voxel_m / 5


def test_a_furnished_rooms_surface_is_less_than_a_voxel_off():
    solids = np.concatenate([SHELL, FURNITURE])
    built = reconstruct(solids, [(2.5, 2.0), (0.7, 3.3), (3.4, 0.6)])
    errors = boxes.distance_to(solids, find_crossings(built))
    assert errors.mean() < SETTING.voxel_m / 4
    assert np.quantile(errors, 0.95) < SETTING.voxel_m


def test_nothing_behind_a_wall_is_told_anything(empty_room):
    outside = empty_room.grid.centers(1) < -SETTING.truncation_m
    assert empty_room.weight[:, outside].sum() == 0
    assert (empty_room.distance[empty_room.weight == 0] == 1).all()


def test_zero_and_nan_are_no_measurement_and_infinity_is_free_space():
    camera = see(SHELL, (2.0, 2.0), 0.0).camera
    built = volume.Volume(volume.make_grid(BOUNDS, 0.0, SETTING), SETTING)
    for nothing in (0.0, np.nan):
        depth = np.full((120, 120), nothing, np.float32)
        assert built.integrate(fusion.View(depth, camera)) == 0
    far = np.full((120, 120), np.inf, np.float32)
    assert built.integrate(fusion.View(far, camera)) == (built.weight == 1).sum() > 0
    assert (built.distance == 1).all()


def test_the_order_of_slabs_is_that_of_the_volume(monkeypatch):
    whole = reconstruct(SHELL, [(1.0, 3.0)])
    monkeypatch.setattr(fusion, "_SLAB_VOXELS", 1)
    assert np.array_equal(reconstruct(SHELL, [(1.0, 3.0)]).distance, whole.distance)


def test_a_pixel_is_where_the_ray_caster_says():
    view = see(SHELL, (1.0, 2.0), 0.3)
    row, column = 70, 31
    at = np.array([(column + 0.5 - 60) / 60, (60 - row - 0.5) / 60, 1.0])
    point = view.camera.position + view.depth[row, column] * (at @ view.camera.axes)
    assert boxes.distance_to(SHELL, point[None])[0] < 1e-6
    (pixel,), (depth,) = view.camera.see([point])
    assert pixel == pytest.approx([column + 0.5, row + 0.5])
    assert depth == pytest.approx(view.depth[row, column])


def test_bounds_that_take_too_many_voxels_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match="raise voxel_m or max_voxels"):
        volume.make_grid([[0, 0, 0], [1e4, 3, 1e4]], 0.0, SETTING)
    with pytest.raises(ValueError, match="the upper one greater in x and z"):
        volume.make_grid([[0, 0, 0], [1, 3, -1]], 0.0, SETTING)


def test_the_grid_has_the_size_that_its_bounds_and_setting_say():
    grid = volume.make_grid([[0, 0, 0], [10, 2.5, 10]], 0.0, SETTING)
    assert grid.shape == (100, 35, 100)
    assert grid.cells([[0.05, 0, 9.99], [-1, 0, 11]]).tolist() == [[0, 99], [0, 99]]
    assert grid.points(np.array([[0, 99]]))[0] == pytest.approx([0.05, 0.0, 9.95])
