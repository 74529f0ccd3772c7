"""The planner sends the agent to where the known floor ends, and remembers one episode alone."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

from nodeset import SettingError
from nodeset.context import Context, EpisodeContext
from nodeset.loading import load_nodeset
from nodeset.rows import check_inputs, check_outputs

ROOT = Path(__file__).resolve().parents[3]
PLANNER = ROOT / "nodesets" / "tsdf_planner"
FLAT = load_nodeset(str(ROOT / "tests" / "workspace" / "nodesets" / "env_flat"))
load_nodeset(str(PLANNER))
floor_map = importlib.import_module("nodesets.tsdf_planner.floor_map")
frontier = importlib.import_module("nodesets.tsdf_planner.frontier")
pose = importlib.import_module("nodesets.tsdf_planner.pose")
setting = importlib.import_module("nodesets.tsdf_planner.setting")
SETTING = setting.read_setting(setting.DEFAULT_CONFIG)


@pytest.fixture
def planner():
    loaded = load_nodeset(str(PLANNER))
    loaded.nodeset.begin_episode(EpisodeContext(0, "0"))
    return loaded


def call(loaded, name, **inputs):
    tool = loaded.tools[name]
    row = check_inputs(tool, inputs)
    return check_outputs(tool, tool.forward(row, Context({}, seed=7)))


def look(planner, at):
    """Integrate what the flat shows at an agent's pose, and return that view."""
    start = call(FLAT, "reset", episode_index=0)
    seen = call(FLAT, "observe", pose=at)
    view = {"depth": seen["depth"], "pose": seen["camera_pose"], "intrinsics": seen["intrinsics"]}
    call(planner, "integrate", **view, bounds=start["bounds"], floor_height=start["floor_height"])
    return view


def start_pose():
    return call(FLAT, "reset", episode_index=0)["pose"]


def draw(*rows):
    """Return the map that rows of `.` (free), `#` (occupied) and `?` (unknown) show."""
    cells = np.array([list(row) for row in rows])
    return floor_map.FloorMap(cells == ".", cells == "#")


def test_the_map_knows_the_floor_that_was_seen_and_no_other(planner):
    view = look(planner, start_pose())
    found = call(planner, "find_frontiers", pose=view["pose"])
    assert found["map"].shape == (100, 80)
    assert (found["map"][:39, :20] == 1).any()
    assert (found["map"][41:, 41:] == 0).all()
    assert found["free_m2"] == pytest.approx((found["map"] == 1).sum() / 100)
    wrong = (found["map"] == 1) & ~floor_map.grow(FLAT.nodeset.truth, 2.9)
    assert wrong.sum() <= 0.01 * (found["map"] == 1).sum()


def test_an_agent_is_sent_on_the_floor_facing_a_frontier_no_further_than_a_step(planner):
    view = look(planner, start_pose())
    plan = call(planner, "next_pose", pose=view["pose"])
    gap = plan["frontier"] - plan["pose"][:3]
    assert plan["pose"][1] == 0.0
    assert np.hypot(*(plan["pose"] - start_pose())[[0, 2]]) <= 3.1
    assert pose.heading_of(plan["pose"]) @ gap[[0, 2]] >= 0
    assert not plan["done"]


def test_an_episode_begins_with_an_empty_volume(planner):
    view = look(planner, start_pose())
    alone = call(planner, "next_pose", pose=view["pose"])
    look(planner, call(FLAT, "reset", episode_index=3)["pose"])
    planner.nodeset.begin_episode(EpisodeContext(1, "1"))
    with pytest.raises(RuntimeError, match="no view was integrated in this episode"):
        call(planner, "find_frontiers", pose=view["pose"])
    look(planner, start_pose())
    again = call(planner, "next_pose", pose=view["pose"])
    assert np.array_equal(alone["pose"], again["pose"])


def test_a_place_of_value_draws_the_agent(planner):
    view = look(planner, start_pose())
    found = call(planner, "find_frontiers", pose=view["pose"])
    least = found["points"][np.argmin(found["weights"])]
    told = call(planner, "integrate_semantics", points=least[None], values=np.array([5.0]))
    assert told["cells"] > 0
    assert np.allclose(call(planner, "next_pose", pose=view["pose"])["frontier"], least)


def test_the_value_of_a_view_scales_those_of_its_places(planner):
    look(planner, start_pose())
    point = start_pose()[None, :3]
    values = np.array([0.5])
    call(planner, "integrate_semantics", points=point, values=values, global_value=0.5)
    peak = planner.nodeset.exploration.memory.semantics.value.max()
    assert peak == pytest.approx(0.5 * np.exp(0.5 / 0.5) / 3, rel=0.02)


def test_a_frontier_in_view_has_its_pixel_and_a_hidden_one_none(planner):
    back = np.array([2.5, 0.0, 2.5, 0.0, 1.0, 0.0, 0.0])
    view = look(planner, start_pose())
    found = call(planner, "find_frontiers", **view)
    seen = found["pixels"][:, 0] >= 0
    assert seen.any()
    assert ((found["pixels"][seen] < [120, 90]) & (found["pixels"][seen] >= 0)).all()
    behind = call(FLAT, "observe", pose=back)
    turned = call(planner, "find_frontiers", **{**view, "pose": behind["camera_pose"]})
    assert not (seen & (turned["pixels"][:, 0] >= 0)).all()


def test_a_volume_keeps_its_place_within_an_episode(planner):
    view = look(planner, start_pose())
    bounds = np.array([[0.0, 0.0, 0.0], [5.0, 2.5, 5.0]])
    with pytest.raises(ValueError, match="not those of this episode's first view"):
        call(planner, "integrate", **view, bounds=bounds, floor_height=0.0)


def test_a_pose_that_turns_by_no_unit_quaternion_is_refused(planner):
    view = look(planner, start_pose())
    with pytest.raises(ValueError, match="quaternion x y z w of length 1"):
        call(planner, "next_pose", pose=np.zeros(7))
    view["intrinsics"] = np.eye(4)
    with pytest.raises(ValueError, match="it must be"):
        call(planner, "integrate", **view, bounds=np.eye(3)[:2], floor_height=0.0)


def test_a_draw_by_weight_is_the_calls_own():
    loaded = load_nodeset(str(PLANNER), config={"choice": "sample"})
    loaded.nodeset.begin_episode(EpisodeContext(0, "0"))
    view = look(loaded, start_pose())
    tool = loaded.tools["next_pose"]
    chosen = {
        tuple(tool.forward({"pose": view["pose"]}, Context({}, seed=seed))["frontier"])
        for seed in range(40)
    }
    assert len(chosen) > 1


def test_a_wrong_setting_is_refused_by_name():
    with pytest.raises(SettingError, match="'voxel_m' is -1; it must be a finite number above 0"):
        load_nodeset(str(PLANNER), config={"voxel_m": -1})
    with pytest.raises(SettingError, match="'choice' is 'worst'"):
        load_nodeset(str(PLANNER), config={"choice": "worst"})


def test_the_way_goes_around_what_stands_in_it():
    room = draw("...", ".#.", "...")
    hops = floor_map.count_hops(room.free, (0, 0))
    path = floor_map.trace_path(hops, (2, 2))
    assert path[0] == (0, 0)
    assert path[-1] == (2, 2)
    assert len(path) == 5
    assert (1, 1) not in path
    assert hops[1, 1] == floor_map.NOT_REACHED


def test_only_frontiers_that_can_be_walked_to_count():
    rows = ["?" * 12, *["." * 12] * 6, "#" * 12, *["." * 12] * 6, "?" * 12]
    scene = frontier.survey(draw(*rows), np.zeros((15, 12)), agent=(11, 3), setting=SETTING)
    found = frontier.find_frontiers(scene, SETTING)
    assert {cell.center[0] for cell in found} == {13}
    assert all(np.allclose(cell.outward, [1, 0]) for cell in found)


def test_a_long_frontier_is_cut_into_stretches():
    rows = ["?" * 60, *["." * 60] * 6]
    scene = frontier.survey(draw(*rows), np.zeros((7, 60)), agent=(5, 5), setting=SETTING)
    centers = [cell.center[1] for cell in frontier.find_frontiers(scene, SETTING)]
    assert len(centers) == 4
    assert centers == sorted(centers)


def test_the_nearer_of_two_like_frontiers_weighs_more():
    rows = ["?" * 60, *["." * 60] * 6]
    scene = frontier.survey(draw(*rows), np.zeros((7, 60)), agent=(5, 5), setting=SETTING)
    weights = [cell.weight for cell in frontier.find_frontiers(scene, SETTING)]
    assert weights == sorted(weights, reverse=True)


def test_the_sampled_inputs_are_what_the_tools_take_in_their_order(planner):
    samples = planner.nodeset.sample_inputs(np.random.default_rng(0))
    assert list(samples) == list(planner.tools)
    for name, inputs in samples.items():
        assert call(planner, name, **inputs)
